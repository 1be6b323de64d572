// What an observer is told.
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "support/renewed_lease.hpp"

#include <afar/mutex.hpp>

#include <memory>

namespace afar::test {
namespace {

using kind = event::kind;

class observers : public engine_test {
 protected:
  void SetUp() override { need<mutex>("mutex"); }

  // Waits for the first event of its kind.
  recorder::record first(kind k) const {
    EXPECT_TRUE(eventually([&] { return seen->count(k) > 0; })) << static_cast<int>(k);
    const auto all = seen->all(k);
    return all.empty() ? recorder::record{} : all.front();
  }

  std::shared_ptr<recorder> seen = std::make_shared<recorder>();
  client watched = connect({.observer = seen});
};

TEST_P(observers, are_told_of_a_grant_with_name_and_token) {
  const auto before = boot_clock::now();
  const hold h = mutex(watched, name).acquire({.lease = 7s});
  const auto got = first(kind::acquired);
  EXPECT_EQ(got.name, name);
  EXPECT_EQ(got.what.token, h.token());
  EXPECT_EQ(got.what.lease, 7s);
  EXPECT_GE(got.what.at, before);
  EXPECT_LE(got.what.at, boot_clock::now());
}

TEST_P(observers, are_told_before_the_request_leaves) {
  const hold h = mutex(watched, name).acquire();
  const auto asked = first(kind::asking);
  EXPECT_EQ(asked.name, name);
  EXPECT_LE(asked.what.at, first(kind::acquired).what.at);
}

TEST_P(observers, are_told_of_a_release_with_name_and_token) {
  hold h = mutex(watched, name).acquire();
  const auto token = h.token();
  h.release();
  const auto left = first(kind::releasing);
  EXPECT_EQ(left.name, name);
  EXPECT_EQ(left.what.token, token);
  const auto gone = first(kind::released);
  EXPECT_EQ(gone.name, name);
  EXPECT_EQ(gone.what.token, token);
  EXPECT_LE(left.what.at, gone.what.at);
}

TEST_P(observers, are_told_of_a_release_by_unlock) {
  mutex m{watched, name};
  m.lock();
  const auto token = m.token();
  m.unlock();
  EXPECT_EQ(first(kind::released).what.token, token);
}

TEST_P(observers, are_told_of_a_loss_with_its_reason) {
  const hold h = mutex(watched, name).acquire({.lease = 50ms, .renew = renewal::off});
  const auto lost = first(kind::lost);
  EXPECT_EQ(lost.name, name);
  EXPECT_EQ(lost.what.token, h.token());
  EXPECT_EQ(lost.what.reason, loss_reason::expired);
}

TEST_P(observers, are_told_of_a_renewal_and_what_was_left) {
  const auto lease = renewed_lease;
  const hold h = mutex(watched, name).acquire({.lease = lease});
  const auto renewed = first(kind::renewed);
  EXPECT_EQ(renewed.name, name);
  EXPECT_EQ(renewed.what.token, h.token());
  EXPECT_LT(renewed.what.left, lease);
}

TEST_P(observers, are_told_when_a_wait_runs_out) {
  const hold other = mutex(one, name).acquire();
  EXPECT_FALSE(mutex(watched, name).try_lock_for(10ms));
  const auto refused = first(kind::refused);
  EXPECT_EQ(refused.name, name);
  EXPECT_EQ(refused.what.code, errc::timed_out);
}

TEST_P(observers, are_told_how_long_a_grant_was_waited_for) {
  hold other = mutex(one, name).acquire({.lease = 60ms, .renew = renewal::off});
  const hold h = mutex(watched, name).acquire();
  EXPECT_GE(first(kind::acquired).what.waited, 20ms);
}

TEST_P(observers, are_told_of_misuse) {
  mutex m{watched, name};
  m.unlock();
  EXPECT_EQ(first(kind::misused).name, name);
}

TEST_P(observers, see_every_grant_and_every_release_of_a_lock) {
  mutex m{watched, name};
  std::error_code ec;
  for (int i = 0; i < 10; ++i) {
    m.lock();
    m.unlock(ec);
  }
  EXPECT_EQ(seen->count(kind::acquired), 10U);
  EXPECT_TRUE(eventually([&] { return seen->count(kind::released) == 10; }));
}

AFAR_FOR_EVERY_ENGINE(observers);

}  // namespace
}  // namespace afar::test
