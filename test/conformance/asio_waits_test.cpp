// Everything else that waits, without a thread.
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/waiting.hpp"

#include <afar/asio.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <optional>

namespace afar::test {
namespace {

class asio_waits : public engine_test {
 protected:
  // A thread that has posted a result may still be on its way out of the context.
  ~asio_waits() override {
    io.restart();
    io.run_for(long_time);
  }
  // A callback on `io` that keeps its error.
  auto into(std::optional<std::error_code>& out) {
    return asio::bind_executor(io, [&out](std::error_code ec) { out = ec; });
  }
  template <class Done>
  bool run_until(Done done) {
    return eventually([&] {
      io.restart();
      io.poll();
      return done();
    });
  }
  // Lets every handler run that can; true if that does not make `done` true.
  template <class Done>
  bool not_yet(Done done) {
    hold_still(10ms);
    io.restart();
    io.poll();
    return !done();
  }

  asio::io_context io;
};

TEST_P(asio_waits, let_readers_in_together) {
  need<shared_mutex>("shared_mutex");
  if (IsSkipped()) return;
  shared_mutex m{one, name};
  const hold reader = shared_mutex(two, name).acquire_shared();
  auto future = async_acquire_shared(m, asio::bind_executor(io, asio::use_future));
  io.run_for(long_time);
  const hold got = future.get();
  EXPECT_TRUE(got.valid());
  EXPECT_TRUE(reader.valid());
  EXPECT_FALSE(shared_mutex(two, name).try_lock());
}

TEST_P(asio_waits, wait_for_permits) {
  need<leased_semaphore>("leased_semaphore", 1U);
  if (IsSkipped()) return;
  leased_semaphore s{one, name, 3};
  hold busy = leased_semaphore(two, name, 3).acquire(2);
  std::optional<hold> got;
  async_acquire(s, 2, asio::bind_executor(io, [&](std::error_code ec, hold h) {
                  EXPECT_FALSE(ec) << ec.message();
                  got = std::move(h);
                }));
  EXPECT_TRUE(not_yet([&] { return got.has_value(); }));
  busy.release();
  EXPECT_TRUE(run_until([&] { return got.has_value(); }));
  EXPECT_TRUE(got->valid());
  EXPECT_FALSE(leased_semaphore(two, name, 3).try_acquire(2));
}

TEST_P(asio_waits, refuse_too_many_permits) {
  need<leased_semaphore>("leased_semaphore", 1U);
  if (IsSkipped()) return;
  leased_semaphore s{one, name, 3};
  std::optional<std::error_code> out;
  async_acquire(s, 4, asio::bind_executor(io, [&](std::error_code ec, const hold&) { out = ec; }));
  EXPECT_TRUE(run_until([&] { return out.has_value(); }));
  EXPECT_EQ(*out, errc::bad_argument);
}

TEST_P(asio_waits, take_one_from_a_semaphore) {
  need<counting_semaphore<>>("counting_semaphore", 1);
  if (IsSkipped()) return;
  counting_semaphore<> s{one, name, 0};
  std::optional<std::error_code> out;
  async_acquire(s, into(out));
  EXPECT_TRUE(not_yet([&] { return out.has_value(); }));
  counting_semaphore<>(two, name, 0).release(2);
  EXPECT_TRUE(run_until([&] { return out.has_value(); }));
  EXPECT_FALSE(*out);
  EXPECT_EQ(s.available(), 1);
}

TEST_P(asio_waits, take_nothing_from_a_semaphore_when_cancelled) {
  need<counting_semaphore<>>("counting_semaphore", 1);
  if (IsSkipped()) return;
  counting_semaphore<> s{one, name, 0};
  std::optional<std::error_code> out;
  asio::cancellation_signal cancel;
  async_acquire(s, asio::bind_cancellation_slot(cancel.slot(), into(out)));
  EXPECT_TRUE(not_yet([&] { return out.has_value(); }));
  cancel.emit(asio::cancellation_type::total);
  EXPECT_TRUE(run_until([&] { return out.has_value(); }));
  EXPECT_EQ(*out, errc::cancelled);
  s.release();
  // An attempt whose answer was lost is repeated, and reversed, behind the caller's back.
  EXPECT_TRUE(eventually([&] { return s.available() == 1; }));
}

TEST_P(asio_waits, wait_for_a_latch) {
  need<latch>("latch", 1);
  if (IsSkipped()) return;
  std::optional<std::error_code> out;
  {
    latch l{one, name, 1};
    async_wait(l, into(out));
  }
  EXPECT_TRUE(not_yet([&] { return out.has_value(); }));
  latch(two, name, 1).count_down();
  EXPECT_TRUE(run_until([&] { return out.has_value(); }));
  EXPECT_FALSE(*out);
}

TEST_P(asio_waits, meet_at_a_barrier) {
  need<barrier>("barrier", 1U);
  if (IsSkipped()) return;
  barrier mine{one, name, 2};
  barrier theirs{two, name, 2};
  std::optional<std::error_code> first;
  std::optional<std::error_code> second;
  async_arrive_and_wait(mine, into(first));
  EXPECT_TRUE(not_yet([&] { return first.has_value(); }));
  async_arrive_and_wait(theirs, into(second));
  EXPECT_TRUE(run_until([&] { return first.has_value() && second.has_value(); }));
  EXPECT_FALSE(*first);
  EXPECT_FALSE(*second);
}

TEST_P(asio_waits, break_a_barrier_when_cancelled) {
  need<barrier>("barrier", 1U);
  if (IsSkipped()) return;
  barrier mine{one, name, 3};
  barrier theirs{two, name, 3};
  std::optional<std::error_code> first;
  std::optional<std::error_code> second;
  asio::cancellation_signal cancel;
  async_arrive_and_wait(mine, asio::bind_cancellation_slot(cancel.slot(), into(first)));
  async_arrive_and_wait(theirs, into(second));
  EXPECT_TRUE(has_waited(one));
  EXPECT_TRUE(has_waited(two)) << "who has not come yet is not told";
  EXPECT_TRUE(not_yet([&] { return first.has_value() || second.has_value(); }));
  cancel.emit(asio::cancellation_type::total);
  EXPECT_TRUE(run_until([&] { return first.has_value() && second.has_value(); }));
  EXPECT_EQ(*first, errc::cancelled);
  EXPECT_EQ(*second, errc::broken);
}

TEST_P(asio_waits, wait_for_a_counter_to_change) {
  need<counter>("counter");
  if (IsSkipped()) return;
  counter c{one, name};
  std::int64_t seen = 0;
  auto coroutine = [&]() -> asio::awaitable<void> {
    seen = co_await async_wait(c, 0, asio::use_awaitable);
  };
  asio::co_spawn(io, coroutine(), asio::detached);
  EXPECT_TRUE(not_yet([&] { return seen != 0; }));
  counter(two, name).store(5);
  EXPECT_TRUE(run_until([&] { return seen != 0; }));
  EXPECT_EQ(seen, 5);
}

TEST_P(asio_waits, end_when_the_client_closes) {
  need<counter>("counter");
  if (IsSkipped()) return;
  counter c{one, name};
  std::optional<std::error_code> out;
  async_wait(c, 0, asio::bind_executor(io, [&](std::error_code ec, std::int64_t) { out = ec; }));
  EXPECT_TRUE(not_yet([&] { return out.has_value(); }));
  one.close();
  EXPECT_TRUE(run_until([&] { return out.has_value(); }));
  EXPECT_EQ(*out, errc::closed);
}

AFAR_FOR_EVERY_ENGINE(asio_waits);

}  // namespace
}  // namespace afar::test
