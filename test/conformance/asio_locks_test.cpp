// Locks without a thread: callbacks, futures and coroutines of Asio.
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <afar/asio.hpp>
#include <afar/fair_mutex.hpp>
#include <afar/mutex.hpp>
#include <afar/shared_mutex.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <memory>
#include <optional>
#include <thread>

namespace afar::test {
namespace {

// What a callback was given.
struct outcome {
  bool done = false;
  std::error_code code = {};
  hold got = {};
  std::thread::id thread = {};
};

class asio_locks : public engine_test {
 protected:
  // A thread that has posted a result may still be on its way out of the context.
  ~asio_locks() override {
    io.restart();
    io.run_for(long_time);
  }
  void SetUp() override { need<mutex>("mutex"); }

  // A callback on `io` that keeps what it is given.
  auto into(outcome& out) {
    return asio::bind_executor(io, [&out](std::error_code ec, hold h) {
      out = {true, ec, std::move(h), std::this_thread::get_id()};
    });
  }
  // Runs handlers until `done`; false: not in time.
  template <class Done>
  bool run_until(Done done) {
    return eventually([&] {
      io.restart();
      io.poll();
      return done();
    });
  }

  asio::io_context io;
};

TEST_P(asio_locks, call_back_with_a_hold) {
  mutex m{one, name};
  outcome out;
  async_acquire(m, into(out));
  EXPECT_FALSE(out.done) << "the callback ran inside the call";
  EXPECT_TRUE(run_until([&] { return out.done; }));
  EXPECT_FALSE(out.code);
  EXPECT_TRUE(out.got.valid());
  EXPECT_EQ(out.got.name(), name);
  EXPECT_FALSE(mutex(two, name).try_lock());
}

TEST_P(asio_locks, wait_for_another_client) {
  hold busy = mutex(two, name).acquire();
  mutex m{one, name};
  outcome out;
  async_acquire(m, into(out));
  EXPECT_TRUE(has_waited(one));
  io.poll();
  EXPECT_FALSE(out.done);
  busy.release();
  EXPECT_TRUE(run_until([&] { return out.done; }));
  EXPECT_TRUE(out.got.valid());
}

TEST_P(asio_locks, wait_for_a_thread_of_the_same_client) {
  mutex m{one, name};
  m.lock();
  outcome out;
  async_acquire(m, into(out));
  io.poll();
  EXPECT_FALSE(out.done);
  m.unlock();
  EXPECT_TRUE(run_until([&] { return out.done; }));
  EXPECT_TRUE(out.got.valid());
}

TEST_P(asio_locks, call_back_on_the_handlers_executor) {
  hold busy = mutex(two, name).acquire();
  mutex m{one, name};
  outcome out;
  async_acquire(m, into(out));
  EXPECT_TRUE(has_waited(one));
  busy.release();
  EXPECT_TRUE(run_until([&] { return out.done; }));
  EXPECT_EQ(out.thread, std::this_thread::get_id());
}

TEST_P(asio_locks, keep_the_context_running_while_they_wait) {
  hold busy = mutex(two, name).acquire();
  mutex m{one, name};
  outcome out;
  async_acquire(m, into(out));
  EXPECT_TRUE(has_waited(one));
  auto releases = start([&] {
    hold_still(20ms);
    busy.release();
  });
  io.run_for(long_time);
  EXPECT_TRUE(out.done);
}

TEST_P(asio_locks, take_options) {
  mutex m{one, name};
  outcome out;
  async_acquire(m, {.lease = 50ms, .renew = renewal::off}, into(out));
  EXPECT_TRUE(run_until([&] { return out.done; }));
  EXPECT_TRUE(eventually([&] { return out.got.lost().stop_requested(); }));
  EXPECT_EQ(out.got.why(), loss_reason::expired);
}

TEST_P(asio_locks, report_errors_to_the_handler) {
  mutex m{one, name};
  outcome out;
  async_acquire(m, {.lease = 1ms}, into(out));
  EXPECT_TRUE(run_until([&] { return out.done; }));
  EXPECT_EQ(out.code, errc::bad_argument);
  EXPECT_FALSE(out.got);
}

TEST_P(asio_locks, give_futures) {
  mutex m{one, name};
  auto future = async_acquire(m, asio::bind_executor(io, asio::use_future));
  io.run_for(long_time);
  EXPECT_TRUE(future.get().valid());
}

TEST_P(asio_locks, give_holds_to_coroutines) {
  mutex m{one, name};
  std::uint64_t token = 0;
  auto coroutine = [&]() -> asio::awaitable<void> {
    const hold h = co_await async_acquire(m, asio::use_awaitable);
    token = h.token();
  };
  asio::co_spawn(io, coroutine(), asio::detached);
  io.run_for(long_time);
  EXPECT_NE(token, 0U);
  EXPECT_TRUE(mutex(two, name).try_lock_for(long_time));
}

TEST_P(asio_locks, throw_in_coroutines) {
  mutex m{one, name};
  one.close();
  std::error_code thrown;
  auto coroutine = [&]() -> asio::awaitable<void> {
    try {
      const hold h = co_await async_acquire(m, asio::use_awaitable);
    } catch (const std::system_error& e) {
      thrown = e.code();
    }
  };
  asio::co_spawn(io, coroutine(), asio::detached);
  io.run_for(long_time);
  EXPECT_EQ(thrown, errc::closed);
}

TEST_P(asio_locks, exclude_coroutines_from_each_other) {
  mutex m{one, name};
  int inside = 0;
  int turns = 0;
  auto coroutine = [&]() -> asio::awaitable<void> {
    for (int round = 0; round < 10; ++round) {
      const hold h = co_await async_acquire(m, asio::use_awaitable);
      EXPECT_EQ(++inside, 1);
      co_await asio::post(io, asio::use_awaitable);
      --inside;
      ++turns;
    }
  };
  for (int i = 0; i < 5; ++i) asio::co_spawn(io, coroutine(), asio::detached);
  io.run_for(long_time);
  EXPECT_EQ(turns, 50);
}

TEST_P(asio_locks, are_cancelled_by_the_handlers_slot) {
  const hold busy = mutex(two, name).acquire();
  mutex m{one, name};
  outcome out;
  asio::cancellation_signal cancel;
  async_acquire(m, asio::bind_cancellation_slot(cancel.slot(), into(out)));
  EXPECT_TRUE(has_waited(one));
  cancel.emit(asio::cancellation_type::total);
  EXPECT_TRUE(run_until([&] { return out.done; }));
  EXPECT_EQ(out.code, errc::cancelled);
  EXPECT_FALSE(out.got);
}

TEST_P(asio_locks, leave_nothing_behind_when_cancelled) {
  hold busy = mutex(two, name).acquire();
  mutex m{one, name};
  outcome out;
  asio::cancellation_signal cancel;
  async_acquire(m, asio::bind_cancellation_slot(cancel.slot(), into(out)));
  EXPECT_TRUE(has_waited(one));
  cancel.emit(asio::cancellation_type::terminal);
  EXPECT_TRUE(run_until([&] { return out.done; }));
  busy.release();
  auto third = connect();
  EXPECT_TRUE(eventually([&] { return mutex(third, name).try_lock(); }, 2s));
}

TEST_P(asio_locks, ignore_a_cancellation_that_comes_too_late) {
  mutex m{one, name};
  outcome out;
  asio::cancellation_signal cancel;
  async_acquire(m, asio::bind_cancellation_slot(cancel.slot(), into(out)));
  EXPECT_TRUE(run_until([&] { return out.done; }));
  cancel.emit(asio::cancellation_type::all);
  EXPECT_TRUE(out.got.valid());
}

TEST_P(asio_locks, can_be_raced_against_a_timer) {
  using namespace asio::experimental::awaitable_operators;
  const hold busy = mutex(two, name).acquire();
  mutex m{one, name};
  std::size_t winner = 9;
  auto coroutine = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer{io, 30ms};
    const auto result =
        co_await (async_acquire(m, asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    winner = result.index();
  };
  asio::co_spawn(io, coroutine(), asio::detached);
  io.run_for(long_time);
  EXPECT_EQ(winner, 1U);
}

TEST_P(asio_locks, outlive_the_primitive) {
  hold busy = mutex(two, name).acquire();
  outcome out;
  {
    mutex m{one, name};
    async_acquire(m, into(out));
  }
  EXPECT_TRUE(has_waited(one));
  busy.release();
  EXPECT_TRUE(run_until([&] { return out.done; }));
  EXPECT_TRUE(out.got.valid());
}

TEST_P(asio_locks, end_when_the_client_closes) {
  const hold busy = mutex(two, name).acquire();
  mutex m{one, name};
  outcome out;
  async_acquire(m, into(out));
  EXPECT_TRUE(has_waited(one));
  one.close();
  EXPECT_TRUE(run_until([&] { return out.done; }));
  EXPECT_EQ(out.code, errc::closed);
}

TEST_P(asio_locks, may_be_abandoned_with_their_context) {
  const hold busy = mutex(two, name).acquire();
  mutex m{one, name};
  {
    asio::io_context brief;
    async_acquire(m, asio::bind_executor(brief, [](std::error_code, const hold&) {}));
    EXPECT_TRUE(has_waited(one));
    one.close();
  }
}

TEST_P(asio_locks, work_for_every_kind_of_mutex) {
  need<fair_mutex>("fair_mutex");
  need<shared_mutex>("shared_mutex");
  if (IsSkipped()) return;
  fair_mutex fair{one, name + "/fair"};
  shared_mutex shared{one, name + "/shared"};
  outcome first;
  outcome second;
  async_acquire(fair, into(first));
  async_acquire(shared, into(second));
  EXPECT_TRUE(run_until([&] { return first.done && second.done; }));
  EXPECT_TRUE(first.got.valid());
  EXPECT_TRUE(second.got.valid());
  EXPECT_FALSE(shared_mutex(two, name + "/shared").try_lock_shared());
}

AFAR_FOR_EVERY_ENGINE(asio_locks);

}  // namespace
}  // namespace afar::test
