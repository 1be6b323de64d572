// What the engine's own thread does for a link: dialing, deadlines, and reading when nobody else does.
#include "engines/redis/link.hpp"

#include <afar/detail/random_between.hpp>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace afar::engines::redis {
namespace {

using namespace std::chrono_literals;

constexpr spi::milliseconds dial_time = 2s;
constexpr spi::milliseconds shortest_pause = 10ms;
constexpr spi::milliseconds longest_pause = 1s;
constexpr spi::milliseconds stall = 5s;  // no answer for so long: the connection is given up
constexpr int ticks_until_sleep = 20;
constexpr spi::milliseconds usual_tick = 2ms;  // also the longest time that something lingers
constexpr spi::milliseconds slow_tick =
    10ms;  // a caller reads, so that only deadlines are left to us

}  // namespace

// m_ held, so it only posts: on the engine's thread a coroutine would begin at once. (inv 4)
void link::call_tick() {
  const auto start = [this](auto coroutine) {
    asio::post(io_->context(), [self = shared_from_this(), coroutine] {
      asio::co_spawn(
          self->io_->context(), [self, coroutine] { return (self.get()->*coroutine)(); },
          asio::detached);
    });
  };
  if (!std::exchange(dialing_, true)) start(&link::keep_connected);
  if (!std::exchange(ticking_, true)) start(&link::tick);
}

// ---- dialing ------------------------------------------------------------------------------------

asio::awaitable<void> link::pause(spi::milliseconds d) {
  std::error_code cancelled;
  retry_.expires_after(d);
  co_await retry_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

asio::awaitable<void> link::keep_connected() {
  spi::milliseconds wait = shortest_pause;
  for (;;) {
    if (co_await connect_once()) {
      wait = shortest_pause;
      for (;;) {
        {
          const lock l{m_};
          if (!up_ || closed_) break;
        }
        co_await pause(1h);  // until somebody says that it is lost
      }
    }
    co_await hang_up();
    {
      const lock l{m_};
      if (closed_) co_return;
    }
    co_await pause(detail::random_between(wait / 2, wait));
    wait = std::min(wait * 2, longest_pause);
  }
}

asio::awaitable<bool> link::connect_once() {
  const bool never = before_.connection == 0;
  dialed got;
  located at = co_await to_->locate();
  if (at.failure) {
    got.failure = std::move(at.failure);
    got.nobody_there = at.nobody_there;
  } else {
    next_wire_ = std::make_shared<wire>(io_->context());
    got = co_await dial(next_wire_, std::move(at.to), before_, dial_time);
  }
  const auto connected = std::exchange(next_wire_, {});
  if (!got.failure) {
    before_ = {got.server.connection, got.server.run};
    got.failure = events_.greeted(got.server);
  }
  const visits::guard open{visits_};  // requests may fail here
  if (!open) co_return false;
  if (!got.failure) co_return use(connected, got.server);
  // What the server will refuse the next time too is not worth waiting for; nor is a server that has
  // never been there.
  refused(got.failure, got.failure.code != errc::unavailable || (got.nobody_there && never) ||
                           events_.impatient);
  co_return false;
}

void link::refused(const spi::status& why, bool hopeless) {
  decltype(waiting_) failed;
  {
    const lock l{m_};
    failure_ = why;
    if (hopeless) failed.swap(waiting_);
  }
  for (auto& r : failed) r->fail(why);
  if (events_.trouble) events_.trouble();
}

namespace {

// Of 16 digits. A replica may become the master, and forget what it had not heard, while we are connected;
// and what is no time of this age (2001 to 2255) is not believed.
std::string moment_of(const server& s, bool has_rivals) {
  constexpr std::int64_t oldest = 1'000'000'000'000'000;
  constexpr std::int64_t always_too_old = (std::int64_t{1} << 53) - 1;
  const bool known =
      !has_rivals && s.role == "master" && s.clock >= oldest && s.clock < always_too_old;
  return std::to_string(known ? s.clock : always_too_old);
}

}  // namespace

bool link::use(std::shared_ptr<wire> connected, const server& with) {
  lock l{m_};
  if (closed_) return false;
  failure_ = {};
  wire_ = std::move(connected);
  wire_->leave_asio(read_time);
  decoder_ = std::make_unique<decoder>();
  decode_ = decoder_.get();
  fd_ = wire_->descriptor();
  going_.clear();
  gone_ = 0;
  known_.clear();
  connected_at_ = moment_of(with, events_.has_rivals);
  ++serial_;
  up_ = true;
  for (auto& r : std::exchange(waiting_, {})) send(std::move(r), false);
  wire_->watch_readable([self = shared_from_this(), from = wire_] { self->readable(from); });
  armed_ = false;
  arm();
  flush(l);
  for (spi::waiter* w : parked_) w->notify();  // one of them may read now
  return true;
}

// (inv 3)
asio::awaitable<void> link::hang_up() {
  for (;;) {
    {
      const lock l{m_};
      if (!wire_) co_return;
      if (reader_ == reader::nobody && !writing_) {
        fd_ = -1;
        break;
      }
      if (closed_) writing_ = false;  // await_writable does not come back
    }
    co_await pause(1ms);
  }
  wire_->close();
  wire_.reset();
}

// ---- deadlines and unread answers ---------------------------------------------------------------

asio::awaitable<void> link::tick() {
  for (;;) {
    const spi::milliseconds next = look();
    {
      const lock l{m_};
      if (closed_ || (next == 0ms && sent_.empty() && waiting_.empty())) {
        ticking_ = false;
        co_return;
      }
    }
    std::error_code cancelled;
    tick_.expires_after(std::max(next, spi::milliseconds{1}));
    co_await tick_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  }
}

// When to look again; 0: nothing is under way, and has not been for a while.
spi::milliseconds link::look() {
  const visits::guard open{visits_};
  if (!open) return 0ms;
  requests late_sent;
  requests late_waiting;
  spi::status failure;
  spi::milliseconds next = usual_tick;
  bool idle = false;
  {
    lock l{m_};
    if (std::exchange(lingering_, false)) {
      quick_ = 0;
      flush(l);
    }
    const auto now = boot_clock::now();
    if (now >= earliest_) {
      earliest_ = spi::time_point::max();
      const auto sort = [&](std::deque<std::unique_ptr<request>>& from, requests& late) {
        for (auto& r : from) {
          if (!r) continue;
          if (r->by <= now)
            late.push_back(std::move(r));
          else
            earliest_ = std::min(earliest_, r->by);
        }
      };
      sort(sent_, late_sent);
      sort(waiting_, late_waiting);
      std::erase(waiting_, nullptr);
    }
    if (up_ && !sent_.empty() && now - progress_ > stall)
      lost(l, {errc::unknown_outcome, "the server does not answer"});
    slow_ = reader_ == reader::caller && !in_tight_loop();
    if (slow_) next = slow_tick;
    idle = sent_.empty() && waiting_.empty() && reader_ == reader::nobody;
    // An idle connection that the server closes is dialed again at once.
    if (reader_ == reader::nobody && (!sent_.empty() || idle_ticks_ + 1 >= ticks_until_sleep))
      arm();
    failure = failure_ ? failure_ : spi::status{errc::unavailable, "does not answer"};
    failure.code = errc::unavailable;
    idle_ticks_ = idle ? idle_ticks_ + 1 : 0;
  }
  for (auto& r : late_sent) r->fail({errc::timed_out, "the server did not answer in time"});
  for (auto& r : late_waiting) r->fail(failure);
  if (idle_ticks_ < ticks_until_sleep) return next;
  idle_ticks_ = 0;
  return 0ms;
}

// On the engine's thread: there is something to read, which nobody may be waiting for.
void link::readable(const std::shared_ptr<wire>& from) {
  {
    const lock l{m_};
    armed_ = false;
    // A caller reads, and takes over; it arms us when it leaves too much behind, or the tick does.
    if (from != wire_ || !up_ || reader_ != reader::nobody) return;
    reader_ = reader::engine;
  }
  read_answers(false);
  lock l{m_};
  leave(l);
  if (up_ && reader_ == reader::nobody) arm();
}

// m_ held. From here on the engine's thread is told when there is something to read, once.
void link::arm() noexcept {
  if (up_ && !std::exchange(armed_, true)) wire_->hear_readable(true);
}

void link::await_writable() {
  if (!wire_) return;
  wire_->when_writable([self = shared_from_this(), from = wire_](std::error_code) {
    const visits::guard open{self->visits_};  // a broken connection fails requests
    lock l{self->m_};
    self->writing_ = false;
    if (open) self->flush(l);
  });
}

}  // namespace afar::engines::redis
