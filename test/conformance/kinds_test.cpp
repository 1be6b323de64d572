// A name is one thing at a time; other use is refused and told what the name is.
#include "core/client_state.hpp"
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <afar/afar.hpp>

#include <string>

namespace afar::test {
namespace {

class kinds : public engine_test {
 protected:
  void SetUp() override {
    need<mutex>("mutex");
    need<counter>("counter");
    need<stock>("stock");
    need<leased_semaphore>("leased_semaphore", 1U);
  }
};

// Refused, with a message that names the thing and what it is.
void expect_wrong_use(const failure& f, const std::string& name, const std::string& kind) {
  EXPECT_EQ(f.code, errc::wrong_use) << f.message;
  EXPECT_EQ(f.resource, name);
  EXPECT_NE(f.message.find(kind), std::string::npos) << f.message;
}

TEST_P(kinds, refuse_a_counter_where_there_is_a_mutex) {
  const hold h = mutex(one, name).acquire();
  expect_wrong_use(failure_of([&] { counter(two, name).fetch_add(1); }), name, "mutex");
  expect_wrong_use(failure_of([&] { counter(one, name).fetch_add(1); }), name, "mutex");
  EXPECT_TRUE(h.valid());
}

TEST_P(kinds, refuse_a_mutex_where_there_is_a_counter) {
  counter(one, name).fetch_add(1);
  expect_wrong_use(failure_of([&] { mutex(two, name).lock(); }), name, "counter");
  expect_wrong_use(failure_of([&] { mutex(two, name).try_lock(); }), name, "counter");
  EXPECT_EQ(counter(one, name).load(), 1);
}

TEST_P(kinds, refuse_a_mutex_where_there_is_a_stock) {
  stock(one, name).set(1);
  expect_wrong_use(failure_of([&] { mutex(two, name).lock(); }), name, "stock");
  EXPECT_EQ(stock(one, name).remaining(), 1);
}

TEST_P(kinds, refuse_a_stock_where_there_is_a_mutex) {
  const hold h = mutex(one, name).acquire();
  expect_wrong_use(failure_of([&] { stock(two, name).set(1); }), name, "mutex");
  expect_wrong_use(failure_of([&] { stock(two, name).take(1, "order"); }), name, "mutex");
}

TEST_P(kinds, refuse_a_stock_where_there_is_a_counter) {
  counter(one, name).store(5);
  expect_wrong_use(failure_of([&] { stock(two, name).set(1); }), name, "counter");
  EXPECT_EQ(counter(one, name).load(), 5);
}

TEST_P(kinds, refuse_a_counter_where_there_is_a_stock) {
  stock(one, name).set(1);
  expect_wrong_use(failure_of([&] { counter(two, name).fetch_add(1); }), name, "stock");
  expect_wrong_use(failure_of([&] { counter(two, name).load(); }), name, "stock");
}

TEST_P(kinds, refuse_a_mutex_where_there_is_a_leased_semaphore) {
  const hold h = leased_semaphore(one, name, 2).acquire();
  expect_wrong_use(failure_of([&] { mutex(two, name).lock(); }), name, "leased_semaphore");
  expect_wrong_use(failure_of([&] { mutex(one, name).lock(); }), name, "leased_semaphore");
}

TEST_P(kinds, refuse_a_leased_semaphore_where_there_is_a_mutex) {
  const hold h = mutex(one, name).acquire();
  leased_semaphore s{two, name, 2};
  expect_wrong_use(failure_of([&] { const hold none = s.acquire(); }), name, "mutex");
}

TEST_P(kinds, refuse_a_latch_where_there_is_a_counter) {
  need<latch>("latch", 1);
  if (IsSkipped()) return;
  counter(one, name).store(5);
  expect_wrong_use(failure_of([&] { latch(two, name, 1).count_down(); }), name, "counter");
  expect_wrong_use(failure_of([&] { latch(two, name, 1).wait_for(slowness * 1s); }), name,
                   "counter");
}

// An engine whose mutex has another layout than its shared_mutex refuses; where it has not, the mutex
// waits for readers, and they for it.
TEST_P(kinds, refuse_a_mutex_where_there_is_a_shared_mutex_or_make_it_the_writer) {
  need<shared_mutex>("shared_mutex");
  if (IsSkipped()) return;
  hold reader = shared_mutex(one, name).acquire_shared();
  if (!one.state()->get().about().mutex_is_writer)
    return expect_wrong_use(failure_of([&] { mutex(two, name).lock(); }), name, "shared_mutex");
  EXPECT_FALSE(mutex(two, name).try_acquire());
  auto writer = start([&] { return mutex(two, name).acquire(); });
  ASSERT_TRUE(has_waited(two));
  EXPECT_FALSE(shared_mutex(one, name).try_acquire_shared()) << "past a writer that waits";
  reader.release();
  hold alone = writer.get();
  EXPECT_FALSE(shared_mutex(one, name).try_acquire_shared());
  EXPECT_FALSE(shared_mutex(one, name).try_acquire());
  const auto token = alone.token();
  alone.release();
  EXPECT_GT(shared_mutex(one, name).acquire_shared().token(), token);
}

TEST_P(kinds, report_wrong_use_to_the_error_code_twin) {
  counter(one, name).store(1);
  std::error_code ec;
  mutex(two, name).lock(ec);
  EXPECT_EQ(ec, errc::wrong_use);
}

TEST_P(kinds, may_change_when_the_name_is_erased) {
  counter c{one, name};
  c.store(1);
  c.erase();
  EXPECT_TRUE(mutex(two, name).try_lock());
}

AFAR_FOR_EVERY_ENGINE(kinds);

}  // namespace
}  // namespace afar::test
