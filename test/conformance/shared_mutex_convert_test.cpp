// Upgrade and downgrade of shared_mutex, for what the object keeps and for holds.
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/renewed_lease.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <afar/shared_mutex.hpp>

namespace afar::test {
namespace {

class converted_locks : public engine_test {
 protected:
  void SetUp() override { need<shared_mutex>("shared_mutex"); }
};

TEST_P(converted_locks, upgrade_the_only_reader) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  mine.lock_shared();
  EXPECT_TRUE(mine.try_upgrade());
  EXPECT_FALSE(theirs.try_lock_shared());
  mine.unlock();
  EXPECT_TRUE(theirs.try_lock_for(long_time));
}

TEST_P(converted_locks, upgrade_the_only_reader_by_its_hold) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  hold reader = mine.acquire_shared();
  const auto token = reader.token();
  EXPECT_TRUE(mine.try_upgrade(reader));
  EXPECT_GT(reader.token(), token);
  EXPECT_TRUE(reader.valid());
  EXPECT_FALSE(theirs.try_lock_shared());
  reader.release();
  EXPECT_TRUE(theirs.try_lock());
}

TEST_P(converted_locks, do_not_upgrade_beside_another_reader) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  mine.lock_shared();
  theirs.lock_shared();
  EXPECT_FALSE(mine.try_upgrade());
  EXPECT_TRUE(shared_mutex(two, name).try_lock_shared());
  theirs.unlock_shared();
  mine.unlock_shared();
}

TEST_P(converted_locks, do_not_upgrade_a_hold_beside_another_reader) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  hold reader = mine.acquire_shared();
  const auto token = reader.token();
  const hold other = theirs.acquire_shared();
  std::error_code ec = errc::damaged;
  EXPECT_FALSE(mine.try_upgrade(reader, ec));
  EXPECT_FALSE(ec) << ec.message();
  EXPECT_TRUE(reader.valid());
  EXPECT_EQ(reader.token(), token);
}

TEST_P(converted_locks, upgrade_once_the_other_reader_has_left) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  hold reader = mine.acquire_shared();
  hold other = theirs.acquire_shared();
  EXPECT_FALSE(mine.try_upgrade(reader));
  other.release();
  EXPECT_TRUE(mine.try_upgrade(reader));
}

TEST_P(converted_locks, do_not_upgrade_what_is_not_held) {
  shared_mutex mine{one, name};
  std::error_code ec;
  EXPECT_FALSE(mine.try_upgrade(ec));
  EXPECT_EQ(ec, errc::not_owner);
  hold none;
  EXPECT_FALSE(mine.try_upgrade(none, ec));
  EXPECT_EQ(ec, errc::not_owner);
}

TEST_P(converted_locks, do_not_upgrade_what_is_lost) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  hold reader = mine.acquire_shared({.lease = 50ms, .renew = renewal::off});
  EXPECT_TRUE(eventually([&] { return !reader.valid(); }));
  const hold writer = theirs.try_acquire_for(long_time);
  std::error_code ec;
  EXPECT_FALSE(mine.try_upgrade(reader, ec));
  EXPECT_EQ(ec, errc::lost);
  EXPECT_TRUE(writer.valid());
}

TEST_P(converted_locks, downgrade_what_the_object_keeps) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  mine.lock();
  const auto token = mine.token();
  mine.downgrade();
  EXPECT_EQ(mine.token(), token);
  EXPECT_FALSE(theirs.try_lock());
  EXPECT_TRUE(theirs.try_lock_shared());
  theirs.unlock_shared();
  mine.unlock_shared();
}

TEST_P(converted_locks, downgrade_a_hold_with_the_same_token) {
  shared_mutex mine{one, name};
  hold writer = mine.acquire();
  const auto token = writer.token();
  mine.downgrade(writer);
  EXPECT_EQ(writer.token(), token);
  EXPECT_TRUE(writer.valid());
}

TEST_P(converted_locks, let_readers_in_after_a_downgrade_but_no_writer) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  hold writer = mine.acquire();
  mine.downgrade(writer);
  EXPECT_FALSE(theirs.try_lock());
  EXPECT_TRUE(theirs.try_lock_shared());
  theirs.unlock_shared();
  EXPECT_FALSE(elsewhere([&] { return shared_mutex{one, name}.try_lock(); }));
  EXPECT_TRUE(elsewhere([&] { return shared_mutex{one, name}.try_lock_shared(); }));
}

TEST_P(converted_locks, wake_waiting_readers_by_a_downgrade) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  hold writer = mine.acquire();
  auto reader = start([&] { return theirs.try_acquire_shared_for(long_time).valid(); });
  EXPECT_TRUE(has_waited(two));
  mine.downgrade(writer);
  EXPECT_TRUE(reader.get());
}

TEST_P(converted_locks, are_unlocked_as_shared_after_a_downgrade) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  mine.lock();
  mine.downgrade();
  std::error_code ec;
  mine.unlock_shared(ec);
  EXPECT_FALSE(ec) << ec.message();
  EXPECT_TRUE(theirs.try_lock());
}

TEST_P(converted_locks, stay_renewed_after_a_conversion) {
  shared_mutex theirs{two, name};
  const client c = connect({.lease = renewed_lease});
  shared_mutex m{c, name};
  hold h = m.acquire();
  m.downgrade(h);
  EXPECT_FALSE(theirs.try_lock_for(renewed_lease * 3 / 2));
  EXPECT_TRUE(h.valid());
  // Who has given up stands in line until its withdrawal is done, which its call does not wait for.
  EXPECT_TRUE(eventually([&] { return m.try_upgrade(h); }));
  EXPECT_FALSE(theirs.try_lock_shared_for(renewed_lease * 3 / 2));
  EXPECT_TRUE(h.valid());
}

TEST_P(converted_locks, go_back_and_forth_with_growing_tokens) {
  shared_mutex mine{one, name};
  hold h = mine.acquire();
  auto last = h.token();
  for (int round = 0; round < 10; ++round) {
    mine.downgrade(h);
    EXPECT_EQ(h.token(), last);
    ASSERT_TRUE(mine.try_upgrade(h));
    EXPECT_GT(h.token(), last);
    last = h.token();
  }
}

AFAR_FOR_EVERY_ENGINE(converted_locks);

}  // namespace
}  // namespace afar::test
