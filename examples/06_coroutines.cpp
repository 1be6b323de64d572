// Waiting without a thread: with Asio, a wait for a lock is one more thing to co_await. A single
// thread runs all coroutines below; none of them blocks it.
#include <afar/afar.hpp>
#include <afar/asio.hpp>

#include <unistd.h>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

namespace {

int failures = 0;
void expect(bool right, const char* what) {
  std::printf("%s %s\n", right ? "  ok  " : "WRONG ", what);
  if (!right) ++failures;
}

int inside = 0;  // how many coroutines believe that they hold the lock
int most = 0;    // and how many did so at once
int visits = 0;

asio::awaitable<void> pause(std::chrono::milliseconds time) {
  asio::steady_timer timer{co_await asio::this_coro::executor, time};
  co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> visitor(afar::client locks, std::string name) {
  afar::mutex door{locks, name};
  for (int i = 0; i < 5; ++i) {
    afar::hold hold = co_await afar::async_acquire(door, asio::use_awaitable);
    most = std::max(most, ++inside);
    co_await pause(1ms);  // other coroutines run meanwhile, but not inside
    --inside;
    ++visits;
  }  // the hold is released at the end of each turn
}

// A wait is given up like every Asio operation: whichever side of || ends first cancels the other.
asio::awaitable<void> impatient(afar::client holder, afar::client waiter, std::string name) {
  afar::mutex taken{holder, name};
  afar::hold hold = co_await afar::async_acquire(taken, asio::use_awaitable);
  afar::mutex wanted{waiter, name};
  auto first = co_await (afar::async_acquire(wanted, asio::use_awaitable) || pause(50ms));
  expect(first.index() == 1, "the timer was first, the wait was cancelled");

  hold.release();
  hold = co_await afar::async_acquire(wanted, asio::use_awaitable);
  expect(hold.valid(), "and left nothing behind: the lock is free for others");
}

}  // namespace

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : "local:";
  const std::string name = "door of " + std::to_string(::getpid());
  asio::io_context loop;
  for (int i = 0; i < 3; ++i)
    asio::co_spawn(loop, visitor(afar::client{url}, name), asio::detached);
  asio::co_spawn(loop, impatient(afar::client{url}, afar::client{url}, name + "/2"),
                 asio::detached);
  loop.run();
  expect(visits == 15 && most == 1, "everybody had all turns, one at a time");
  return failures;
}
