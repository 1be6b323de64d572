// Every step whose answer is lost takes effect exactly once: the client asks again, and the server
// knows that it did. Each layout, each way to lose an answer.
#include "redis_fault_fixture.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <future>
#include <string>
#include <tuple>

namespace afar::test {
namespace {

class redis_once : public redis_fault_test,
                   public ::testing::WithParamInterface<std::tuple<std::string, mishap>> {
 protected:
  std::string at(const std::string& url) const {
    return url + "?layout=" + std::get<0>(GetParam());
  }

  // The answer to the nth script from now on that is called for the test's name.
  void lose_answer(int nth = 1) { proxy.strike(std::get<1>(GetParam()), {"EVAL", name}, nth); }

  client through = connect(at(proxy.url()), {.lease = renewed_lease});
  client other = connect(at(server.url()));
};

TEST_P(redis_once, acquire) {
  mutex m{through, name};
  lose_answer();
  hold held = m.acquire();
  EXPECT_TRUE(proxy.struck());
  const auto seen = inspect(other, name);
  ASSERT_TRUE(seen && seen->holders.size() == 1);
  EXPECT_EQ(seen->holders[0].token, held.token());
  EXPECT_EQ(seen->last_token, held.token()) << "the repetition has made another token";
  held.release();
  EXPECT_TRUE(mutex(other, name).try_acquire()) << "something was left behind";
}

TEST_P(redis_once, acquire_of_permits) {
  leased_semaphore s{through, name, 5};
  lose_answer();
  hold held = s.acquire(2);
  EXPECT_TRUE(proxy.struck());
  leased_semaphore same{other, name, 5};
  hold rest = same.try_acquire(3);
  EXPECT_TRUE(rest) << "the repetition has taken two more";
  EXPECT_FALSE(same.try_acquire(1));
  rest.release();
  held.release();
  EXPECT_TRUE(same.try_acquire(5));
}

TEST_P(redis_once, place_in_line) {
  hold held = fair_mutex(other, name).acquire();
  fair_mutex m{through, name};
  lose_answer();
  auto waits = std::async(std::launch::async, [&] { return m.acquire(); });
  ASSERT_TRUE(has_waited(through));
  EXPECT_TRUE(proxy.struck());
  EXPECT_EQ(inspect(other, name)->waiters.size(), 1U);
  held.release();
  hold next = waits.get();
  EXPECT_TRUE(inspect(other, name)->waiters.empty());
}

TEST_P(redis_once, release) {
  hold held = mutex(through, name).acquire();
  auto waits = std::async(std::launch::async, [&] { return mutex(other, name).acquire(); });
  ASSERT_TRUE(has_waited(other));
  lose_answer();
  std::error_code ec;
  held.release(ec);
  EXPECT_TRUE(proxy.struck());
  EXPECT_FALSE(ec) << ec.message();
  const hold next = waits.get();
  const auto seen = inspect(other, name);
  ASSERT_TRUE(seen && seen->holders.size() == 1) << "the repetition has ended another's hold";
  EXPECT_EQ(seen->holders[0].token, next.token());
}

TEST_P(redis_once, renew) {
  const hold held = mutex(through, name).acquire();
  const auto first_end = held.valid_until();
  lose_answer();
  ASSERT_TRUE(eventually([&] { return proxy.struck(); }));
  ASSERT_TRUE(eventually([&] { return boot_clock::now() > first_end + 10ms; }));
  EXPECT_TRUE(held.valid());
  const auto seen = inspect(other, name);
  ASSERT_TRUE(seen && seen->holders.size() == 1);
  EXPECT_EQ(seen->holders[0].token, held.token());
}

TEST_P(redis_once, change) {
  counter c{through, name};
  lose_answer();
  EXPECT_EQ(c.fetch_add(5), 0);
  EXPECT_TRUE(proxy.struck());
  EXPECT_EQ(counter(other, name).load(), 5);
  lose_answer();
  std::int64_t expected = 5;
  EXPECT_TRUE(c.compare_exchange_strong(expected, 7)) << "it found its own change";
  EXPECT_TRUE(proxy.struck());
  lose_answer();
  EXPECT_EQ(c.exchange(9), 7);
  EXPECT_TRUE(proxy.struck());
  EXPECT_EQ(counter(other, name).load(), 9);
}

TEST_P(redis_once, take) {
  stock s{through, name};
  s.set(100);
  const auto once = [&](auto step, std::array<std::int64_t, 3> remaining_reserved_taken) {
    lose_answer();
    step();
    EXPECT_TRUE(proxy.struck());
    const auto now = stock(other, name).levels();
    ASSERT_TRUE(now);
    EXPECT_EQ((std::array{now->remaining, now->reserved, now->taken}), remaining_reserved_taken);
  };
  once([&] { EXPECT_EQ(s.take(10, "a", "ann"), take_result::taken); }, {90, 0, 10});
  once([&] { EXPECT_TRUE(s.add(5)); }, {95, 0, 10});
  once([&] { EXPECT_EQ(s.reserve(20, "b", "bob", 1h), take_result::taken); }, {75, 20, 10});
  once([&] { EXPECT_EQ(s.commit("b"), order_result::done); }, {75, 0, 30});
  once([&] { EXPECT_EQ(s.put_back("a"), order_result::done); }, {85, 0, 20});
  once([&] { EXPECT_EQ(s.reserve(1, "c", "cid", 1h), take_result::taken); }, {84, 1, 20});
  once([&] { EXPECT_EQ(s.cancel("c"), order_result::done); }, {85, 0, 20});
}

TEST_P(redis_once, evict) {
  const hold held = mutex(other, name).acquire({.lease = renewed_lease});
  lose_answer(2);  // the first is the look at who holds
  EXPECT_TRUE(evict(through, name, held.token())) << "it found its own eviction";
  EXPECT_TRUE(proxy.struck());
  ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_EQ(held.why(), loss_reason::evicted);
  EXPECT_FALSE(evict(through, name, held.token())) << "that hold is over";
}

TEST_P(redis_once, arrival_at_a_barrier) {
  barrier here{through, name, 2};
  lose_answer();
  auto one = std::async(std::launch::async, [&] { here.arrive_and_wait(); });
  ASSERT_TRUE(eventually([&] { return proxy.struck(); }));
  barrier there{other, name, 2};
  auto two = std::async(std::launch::async, [&] { there.arrive_and_wait(); });
  one.get();
  two.get();
  EXPECT_FALSE(inspect(other, name)) << "somebody arrived twice";
}

std::string word(mishap m) {
  switch (m) {
    case mishap::drop:
      return "drop";
    case mishap::truncate:
      return "truncate";
    case mishap::garble:
      return "garble";
  }
  return {};
}

INSTANTIATE_TEST_SUITE_P(
    , redis_once,
    ::testing::Combine(::testing::Values("afar", "redisson"),
                       ::testing::Values(mishap::drop, mishap::truncate, mishap::garble)),
    [](const auto& i) { return std::get<0>(i.param) + "_" + word(std::get<1>(i.param)); });

// ---- requests that are stuck in an old connection -----------------------------------------------

class redis_orphan : public redis_fault_test {};

// Its client has given up and left the line over a new connection; the old one must not bring the
// request after that.
TEST_F(redis_orphan, of_a_delayed_acquire_is_closed) {
  const auto before = connections();
  const client through = connect(proxy.url());
  mutex m{through, name};
  mutex(through, name + "/warm")
      .acquire()
      .release();  // the connection is up, the scripts are known
  const auto old = added_to(before);
  proxy.hold(way::to_server);
  auto tries = std::async(std::launch::async, [&] { return m.try_acquire_for(slowness * 500ms); });
  ASSERT_TRUE(eventually([&] { return proxy.waiting(way::to_server); }));
  proxy.half_close(way::to_client);  // the client dials anew, and asks over the new one
  hold held = tries.get();
  ASSERT_TRUE(held);
  held.release();
  proxy.heal();  // what was stuck goes on to the server
  ASSERT_TRUE(eventually([&] { return none_is_left(old); }));
  EXPECT_TRUE(is_free(name));
  EXPECT_TRUE(mutex(straight, name).try_acquire());
}

}  // namespace
}  // namespace afar::test
