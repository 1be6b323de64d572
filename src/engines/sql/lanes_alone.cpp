// What goes without a worker. (inv 6)
#include "engines/sql/lanes.hpp"

#include <afar/spi/coming_to_drive.hpp>
#include <afar/spi/own_thread.hpp>

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace afar::engines::sql {
namespace {

using namespace std::chrono_literals;

// For so long a thread waits for an answer itself: it hears nothing else meanwhile. Beside an answer that
// takes longer, to be woken by another thread costs nothing.
constexpr auto moment = 50ms;

sent answer_by(connection& on, spi::time_point last) noexcept {
  for (;;) {
    const std::chrono::nanoseconds left = last - boot_clock::now();
    if (left <= 0ns) return sent::under_way;
    pollfd p{on.descriptor(), POLLIN, 0};
    const timespec most{.tv_sec = left / 1s, .tv_nsec = (left % 1s).count()};
    if (::ppoll(&p, 1, &most, nullptr) <= 0) continue;
    if (const sent s = on.look(); s != sent::under_way) return s;
  }
}

}  // namespace

std::size_t lanes::alone(spi::time_point now) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(running_, [&](const lane& l) { return l.stuck_at > now; }));
}

// A thread of the crew goes on to serve, and does that with less ado.
bool lanes::go_alone(const std::shared_ptr<step>& s, lock_type& lock) {
  const bool comes = spi::coming_to_drive::take();
  const auto opening = s->opens_with();
  if (!opening || spi::own_thread || steps_.spares.empty() || !may_begin(*s)) return false;
  if (!steps_.queue.empty() || !renewals_.queue.empty()) return false;
  if (!steps_.spares.back().on->can_send(*opening)) return false;
  auto on = std::move(steps_.spares.back().on);
  steps_.spares.pop_back();
  const auto now = boot_clock::now();
  const auto at = show({.what = s,
                        .socket = on->descriptor(),
                        .stuck_at = now + crew::stuck_after,
                        .sender = std::this_thread::get_id(),
                        .hear_at = comes ? now + moment : spi::time_point{}});
  ++serving_;
  lock.unlock();
  const bool broken = on->broken();
  const sent seen = broken ? sent::nothing : s->send_opening(*on);
  lock.lock();
  if (seen != sent::nothing) {
    go_on(at, std::move(on), seen, lock);
  } else {
    hide(at);
    if (broken)
      give_up(steps_, std::move(on), lock);
    else
      put_back(steps_, std::move(on), lock);
  }
  --serving_;
  served_.notify_all();
  return seen != sent::nothing;
}

// By whoever has taken the connection out of the lane.
void lanes::go_on(lane_at at, std::unique_ptr<connection> on, sent seen, lock_type& lock) {
  if (seen == sent::did_it || closed_) return end(at, std::move(on), lock);
  at->on = std::move(on);
  if (seen == sent::under_way && at->hear_at == spi::time_point{})
    return crew_.hear(member_, at->socket);
  if (seen == sent::under_way) return crew_.attend_by(at->hear_at);
  at->hear_at = {};
  at->socket = at->on->descriptor();  // none, if the client library has closed it (inv 2)
  at->stuck_at = {};
  at->unsettled = true;
  crew_.call(shared_from_this());
}

// Its answer is here, or the connection is shut down: perform() does not block. Or this is a worker.
void lanes::end(lane_at at, std::unique_ptr<connection> on, lock_type& lock) {
  const auto s = at->what;
  lock.unlock();
  s->perform(*on);
  on->skip();  // who was failed does not ask for it
  lock.lock();
  hide(at);         // (inv 2)
  ring(*on, lock);  // only what several statements do has to
  put_back(steps_, std::move(on), lock);
  call_if_any_can_go();
}

bool lanes::read_here(spi::time_point until) noexcept {
  std::unique_lock lock{mutex_};
  const auto me = std::this_thread::get_id();
  const auto last_sent =
      std::ranges::find_if(running_.rbegin(), running_.rend(),
                           [&](const lane& l) { return l.on && !l.unsettled && l.sender == me; });
  if (last_sent == running_.rend()) {
    // One thread more that waits: what is queued may have a connection more. (may_dial)
    if (!steps_.queue.empty() && alone(boot_clock::now()) > 0) call_if_any_can_go();
    return false;
  }
  const auto at = std::prev(last_sent.base());
  auto on = std::move(at->on);
  if (std::exchange(at->hear_at, {}) == spi::time_point{}) crew_.hear_no_more(at->socket);
  ++serving_;
  lock.unlock();
  const sent seen = answer_by(*on, std::min(until, boot_clock::now() + moment));
  lock.lock();
  go_on(at, std::move(on), seen, lock);
  --serving_;
  served_.notify_all();
  return seen == sent::did_it;
}

// ---- on the keeper ------------------------------------------------------------------------------

void lanes::heard() noexcept {
  std::unique_lock lock{mutex_};
  answered_.reserve(running_.size());
  for (auto at = running_.begin(); at != running_.end(); ++at) {
    if (!at->on || at->unsettled || at->hear_at != spi::time_point{}) continue;
    const sent seen = at->on->look();
    if (seen == sent::under_way)
      crew_.hear(member_, at->socket);
    else
      answered_.push_back({at, std::move(at->on), seen});
  }
  ++serving_;
  for (auto& a : answered_) go_on(a.at, std::move(a.on), a.seen, lock);
  answered_.clear();
  --serving_;
  served_.notify_all();
}

// ---- on a worker --------------------------------------------------------------------------------

bool lanes::serve_unsettled(lock_type& lock) {
  const auto at = std::ranges::find_if(running_, [](const lane& l) { return l.on && l.unsettled; });
  if (at == running_.end()) return false;
  end(at, std::move(at->on), lock);
  return true;
}

}  // namespace afar::engines::sql
