#include "engines/sql/lanes.hpp"

#include "engines/sql/attempts.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace afar::engines::sql {
namespace {

using namespace std::chrono_literals;

constexpr auto dial_time = 5s;
constexpr auto dial_pause = 1s;     // where the server grants no more connections
constexpr auto longest_idle = 10s;  // then a connection that is not the last of its group ends

// Behind a step, which is answered already: of no claim, so that its next step need not wait for it.
class ringing final : public step {
 public:
  ringing(spi::time_point t, std::vector<bell_call> calls) : step(t), calls_(std::move(calls)) {}
  void perform(connection& on) noexcept override {
    try {
      on.ring(calls_);
    } catch (const failure&) {  // lost; those who wait look now and then
    }
  }
  void fail(const spi::status&) noexcept override {}

 private:
  const std::vector<bell_call> calls_;
};

}  // namespace

lanes::lanes(dialer d, std::size_t most, std::function<void()> reconnected)
    : dial_(std::move(d)), reconnected_(std::move(reconnected)) {
  steps_.most = most;
}

void lanes::start(std::unique_ptr<connection> first) {
  steps_.spares.push_back({std::move(first), boot_clock::now()});
  steps_.open = 1;
  member_ = crew_.join(shared_from_this());
}

void lanes::submit(std::shared_ptr<step> s, way w) {
  {
    std::unique_lock lock{mutex_};
    if (!closed_) {
      group& g = w == way::steps ? steps_ : renewals_;
      crew_.attend_by(s->by);
      if (w == way::steps && go_alone(s, lock)) return;
      if (!closed_) {
        g.queue.push_back(std::move(s));
        const auto now = boot_clock::now();
        if (can_go(g))
          crew_.call(shared_from_this(), urgency_of(g));
        else if (alone(now) > 0)
          crew_.attend_by(now + crew::stuck_after);  // (inv 6)
        return;
      }
    }
  }
  s->fail({errc::closed});
}

// (inv 3)
bool lanes::may_begin(const step& s) const {
  const spi::owner_id claim = s.claim();
  return claim == spi::owner_id{} ||
         std::ranges::none_of(running_, [&](const lane& l) { return l.what->claim() == claim; });
}

std::deque<std::shared_ptr<step>>::iterator lanes::ready(group& g) {
  return std::ranges::find_if(g.queue,
                              [&](const std::shared_ptr<step>& s) { return may_begin(*s); });
}

bool lanes::can_go(group& g) {
  return !closed_ && (!lender(g).spares.empty() || may_dial(g)) && ready(g) != g.queue.end();
}

bool lanes::may_dial(const group& g) const {
  const auto now = boot_clock::now();
  if (g.open >= g.most || g.dialing || g.dial_at > now) return false;
  return &g == &renewals_ || alone(now) < std::max<std::size_t>(crew_.callers(), 1);  // (inv 6)
}

// Whose connection it uses next. (inv 4)
lanes::group& lanes::lender(group& g) {
  return &g == &renewals_ && g.spares.empty() && !steps_.spares.empty() ? steps_ : g;
}

void lanes::call_if_any_can_go() {
  for (group* g : {&renewals_, &steps_})
    if (can_go(*g)) return crew_.call(shared_from_this(), urgency_of(*g));
}

crew::urgency lanes::urgency_of(const group& g) const noexcept {
  return &g == &renewals_ ? crew::urgency::urgent : crew::urgency::usual;
}

// ---- on a worker --------------------------------------------------------------------------------

void lanes::serve() noexcept {
  std::unique_lock lock{mutex_};
  ++serving_;
  auto unused = long_unused(boot_clock::now());
  for (group* g : {&renewals_, &steps_}) {
    if (g == &steps_ && serve_unsettled(lock)) break;
    if (!can_go(*g)) continue;
    group& from = lender(*g);
    auto on = take_connection(from, lock);
    if (!on) continue;
    const auto at = ready(*g);
    if (closed_ || at == g->queue.end()) {  // somebody else was faster
      put_back(from, std::move(on), lock);
      continue;
    }
    const auto s = std::move(*at);
    g->queue.erase(at);
    call_if_any_can_go();
    perform(s, *on, lock);
    put_back(from, std::move(on), lock);
    call_if_any_can_go();
    break;
  }
  lock.unlock();
  unused.clear();
  lock.lock();
  --serving_;
  served_.notify_all();
}

std::unique_ptr<connection> lanes::take_connection(group& g, lock_type& lock) {
  while (!g.spares.empty()) {
    auto on = std::move(g.spares.back().on);
    g.spares.pop_back();
    if (!on->broken()) return on;
    give_up(g, std::move(on), lock);  // known before anything is sent, so nobody need be told
  }
  return may_dial(g) && !closed_ ? make_connection(g, lock) : nullptr;
}

// What waits meanwhile fails when that fails: the core knows how to repeat it.
std::unique_ptr<connection> lanes::make_connection(group& g, lock_type& lock) {
  g.dialing = true;
  ++g.open;
  const bool again = std::exchange(g.lost, false);
  std::unique_ptr<connection> on;
  spi::status failed;
  lock.unlock();
  try {
    const crew::away meanwhile{crew_};
    on = dial_(boot_clock::now() + dial_time);
  } catch (const failure& f) {
    failed = f.what;
  } catch (const lock_error& e) {
    failed = {e.code(), e.what()};
  }
  if (on && again) reconnected_();
  lock.lock();
  g.dialing = false;
  if (on) return on;
  --g.open;
  g.lost = again;
  if (g.open == 0) {
    fail_all(g, failed, lock);
  } else {  // more connections than the server grants: the others do the work
    g.dial_at = boot_clock::now() + dial_pause;
    crew_.attend_by(g.dial_at);
  }
  return nullptr;
}

// Whoever takes it next looks whether it is broken.
void lanes::put_back(group& g, std::unique_ptr<connection> on, lock_type& lock) {
  if (closed_) return give_up(g, std::move(on), lock);
  g.spares.push_back({std::move(on), boot_clock::now()});
  if (g.open > 1) crew_.attend_by(next_unused());
}

void lanes::give_up(group& g, std::unique_ptr<connection> on, lock_type& lock) {
  if (--g.open == 0) g.dial_at = {};  // that pause is for more connections than the server grants
  g.lost = true;
  lock.unlock();
  on.reset();
  lock.lock();
}

lanes::lane_at lanes::show(lane l) {
  if (unused_.empty()) unused_.emplace_back();
  running_.splice(running_.end(), unused_, unused_.begin());
  running_.back() = std::move(l);
  return std::prev(running_.end());
}

void lanes::hide(lane_at at) {
  *at = {};
  unused_.splice(unused_.begin(), running_, at);
}

void lanes::perform(const std::shared_ptr<step>& s, connection& on, lock_type& lock) {
  const auto shown = show({.what = s, .socket = on.descriptor()});
  lock.unlock();
  s->perform(on);
  lock.lock();
  hide(shown);  // (inv 2)
  ring(on, lock);
}

// (inv 7) Those of one whose connection broke are left to the next who rings.
void lanes::ring(connection& on, lock_type& lock) {
  const auto more = on.to_ring();
  if (more.empty()) return;  // it may be a thread that must not block
  to_ring_.insert(to_ring_.end(), more.begin(), more.end());
  if (std::exchange(ringing_, true)) return;
  while (!to_ring_.empty() && !on.broken()) {
    auto calls = std::exchange(to_ring_, {});
    each_once(calls);
    perform(std::make_shared<ringing>(boot_clock::now() + 1s, std::move(calls)), on, lock);
  }
  ringing_ = false;
}

void lanes::fail_all(group& g, const spi::status& why, lock_type& lock) {
  std::deque<std::shared_ptr<step>> all;
  all.swap(g.queue);
  lock.unlock();
  for (const auto& s : all) s->fail(why);
  all.clear();
  lock.lock();
}

// ---- on the keeper ------------------------------------------------------------------------------

spi::time_point lanes::attend(spi::time_point now) noexcept {
  std::vector<std::shared_ptr<step>> late;
  std::unique_lock lock{mutex_};
  auto next = spi::time_point::max();
  for (group* g : {&steps_, &renewals_}) {
    for (auto& s : g->queue)
      if (s->by <= now)
        late.push_back(std::move(s));
      else
        next = std::min(next, s->by);
    std::erase(g->queue, nullptr);
  }
  for (lane& l : running_) {
    if (l.hear_at > now)
      next = std::min(next, l.hear_at);
    else if (l.on && std::exchange(l.hear_at, {}) != spi::time_point{})
      crew_.hear(member_, l.socket);
    if (l.cut) continue;
    if (l.what->by <= now && !std::exchange(l.late, true)) late.push_back(l.what);
    const auto end = l.late ? l.what->by + overdue_after : l.what->by;
    if (l.late && end <= now) {
      l.cut = true;
      ::shutdown(l.socket, SHUT_RDWR);
    } else {
      next = std::min(next, end);
    }
  }
  if (!steps_.queue.empty())
    for (const lane& l : running_)
      if (l.stuck_at > now) next = std::min(next, l.stuck_at);
  for (const group* g : {&steps_, &renewals_})
    if (!g->queue.empty() && g->dial_at > now) next = std::min(next, g->dial_at);
  const auto unused = next_unused();
  if (unused <= now)
    crew_.call(shared_from_this());
  else
    call_if_any_can_go();  // the server may grant another connection by now
  next = std::min(next, unused <= now ? now + longest_idle : unused);
  lock.unlock();
  for (const auto& s : late) s->fail({errc::timed_out, "the server did not answer in time"});
  return next;
}

// The first of the spares is the one that was used least lately.
spi::time_point lanes::next_unused() const {
  auto next = spi::time_point::max();
  for (const group* g : {&steps_, &renewals_})
    if (g->open > 1 && !g->spares.empty())
      next = std::min(next, g->spares.front().since + longest_idle);
  return next;
}

std::vector<lanes::spare> lanes::long_unused(spi::time_point now) {
  std::vector<spare> all;
  for (group* g : {&steps_, &renewals_})
    while (g->open > 1 && !g->spares.empty() && g->spares.front().since + longest_idle <= now) {
      all.push_back(std::move(g->spares.front()));
      g->spares.erase(g->spares.begin());
      --g->open;
    }
  return all;
}

void lanes::close() noexcept {
  std::vector<spare> all;
  std::unique_lock lock{mutex_};
  closed_ = true;
  for (lane& l : running_) {
    ::shutdown(l.socket, SHUT_RDWR);
    if (!l.on) continue;
    steps_.queue.push_back(std::exchange(l.what, nullptr));  // whence they are failed
    all.push_back({std::move(l.on)});
  }
  std::erase_if(running_, [](const lane& l) { return !l.what; });
  for (group* g : {&steps_, &renewals_}) fail_all(*g, {errc::closed}, lock);
  served_.wait_for(lock, 1s, [&] { return serving_ == 0; });
  for (group* g : {&steps_, &renewals_}) {
    std::ranges::move(g->spares, std::back_inserter(all));
    g->spares.clear();
  }
  lock.unlock();
  all.clear();
  crew_.leave(member_);
}

}  // namespace afar::engines::sql
