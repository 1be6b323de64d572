#include "primitives/claim_body.hpp"

#include "primitives/release.hpp"

#include <afar/detail/random_between.hpp>

#include <algorithm>
#include <utility>

namespace afar::detail {

claim_body::claim_body(std::shared_ptr<client_state> c, spi::kind kind, const std::string& name,
                       std::uint32_t limit)
    : client_(std::move(c)), line_(client_->get().line(kind, name)), limit_(limit) {
  if (limit == 0) throw lock_error(errc::bad_argument, name, "a limit of 0");
}

spi::status claim_body::check(const wish& w) const {
  if (w.permits != 0 && w.permits <= limit_) return {};
  return {errc::bad_argument,
          std::to_string(w.permits) + " permits; 1 to " + std::to_string(limit_) + " can be had"};
}

claim_request claim_body::request(wish w) const {
  claim_request r;
  r.line = line_;
  r.mode = access_of(w.mode);
  r.permits = w.permits;
  r.limit = limit_;
  r.by = w.by;
  r.lease = w.options.lease;
  r.renew = w.options.renew;
  r.stop = std::move(w.options.stop);
  return r;
}

// std::lock over several locks: who fails to get this one gives the others back and waits here. Where
// all take the same time for a step and a lock goes straight to the next in line, several would do so
// in step, and none get all of its locks for a long time.
void claim_body::step_aside() const {
  const int n = refusals_;
  if (n < 3) return;
  std::this_thread::sleep_for(
      random_between(std::chrono::microseconds{0}, std::chrono::microseconds{50} * (1 << n)));
}

hold_ptr claim_body::acquire(wish w, std::string note, spi::status& s) const {
  s = check(w);
  if (s) return nullptr;
  const bool tries = !w.by.waits;
  if (note.empty() &&
      owner().may_take_again(*line_, access_of(w.mode), w.options.renew, w.options.stop))
    if (auto kept = owner().take_again(*line_, w.options.lease)) return kept;
  if (w.by.infinite()) step_aside();
  auto r = request(std::move(w));
  r.note = std::move(note);
  auto state = owner().acquire(std::move(r), s);
  if (tries)
    refusals_ = state ? std::max(refusals_ - 2, 0) : std::min(refusals_ + 1, most_refusals);
  return state;
}

hold claim_body::give(hold_ptr state) const {
  if (!state) return {};
  if (line_->kind() == spi::kind::barrier) {
    state->end({});
    return {};
  }
  state->keep_open(client_);
  return hold{std::move(state)};
}

spi::status claim_body::may_lock(const deadline& by) {
  if (auto unusable = owner().usable()) return unusable;  // (inv 3)
  if (line_->self_thread.load(std::memory_order_relaxed) != std::this_thread::get_id()) return {};
  const std::lock_guard lock(line_->self_mutex);
  const auto& self = line_->self;
  if (self.thread != std::this_thread::get_id()) return {};
  if (self.object == this && !by.waits) return errc::timed_out;
  return {errc::deadlock, "this thread has locked it and would wait for itself"};
}

bool claim_body::keep(wish w, spi::status& s) {
  if (w.by_lock) {
    s = may_lock(w.by);
    if (s) return false;
  }
  const auto mode = w.mode;
  const bool by_lock = w.by_lock;
  auto state = acquire(std::move(w), {}, s);
  if (!state) return false;
  locked(std::move(state), mode, by_lock);
  return true;
}

void claim_body::locked(hold_ptr state, claim_mode mode, bool by_lock) {
  if (by_lock) set_self();
  const std::lock_guard lock(m_);
  kept_.push_back({std::move(state), mode, std::this_thread::get_id()});
}

hold_ptr claim_body::unlocked(claim_mode mode) {
  kept_hold gone;
  {
    const std::lock_guard lock(m_);
    const auto at = find_kept(mode);
    if (at == kept_.end()) return nullptr;
    gone = std::move(*at);
    kept_.erase(at);
  }
  if (mode == claim_mode::exclusive) clear_self(gone.thread);  // (inv 2)
  return std::move(gone.hold);
}

bool claim_body::convert(claim_mode to, spi::status& s) {
  s = owner().usable();
  if (s) return false;
  const bool up = to == claim_mode::exclusive;
  hold_ptr state;
  std::thread::id locker;
  {
    const std::lock_guard lock(m_);
    const auto at = find_kept(up ? claim_mode::shared : claim_mode::exclusive);
    if (at == kept_.end()) {
      s = errc::not_owner;
      return false;
    }
    state = at->hold;
    locker = at->thread;
  }
  if (!owner().convert(*state, access_of(to), s)) return false;
  {
    const std::lock_guard lock(m_);
    const auto at = std::ranges::find(kept_, state, &kept_hold::hold);
    if (at != kept_.end()) {
      at->mode = to;
      at->thread = std::this_thread::get_id();
    }
  }
  if (up)
    set_self();
  else
    clear_self(locker);
  return true;
}

void claim_body::drop_all() noexcept {
  std::vector<kept_hold> all;
  {
    const std::lock_guard lock(m_);
    all.swap(kept_);
  }
  for (auto& one : all) {
    if (one.mode == claim_mode::exclusive) clear_self(one.thread);
    release(std::move(one.hold));
  }
}

const hold_ptr* claim_body::find_shown() const {
  if (kept_.empty()) return nullptr;
  const auto mine = std::ranges::find(kept_, std::this_thread::get_id(), &kept_hold::thread);
  return mine == kept_.end() ? &kept_.back().hold : &mine->hold;
}

hold_ptr claim_body::kept() const {
  if (owner().forked()) return nullptr;
  const std::lock_guard lock(m_);
  const auto* const found = find_shown();
  return found ? *found : nullptr;
}

std::uint64_t claim_body::kept_token() const {
  if (owner().forked()) return 0;
  const std::lock_guard lock(m_);
  const auto* const found = find_shown();
  return found ? (*found)->token() : 0;
}

// This thread's own, else that of a thread which gave its lock away.
std::vector<claim_body::kept_hold>::iterator claim_body::find_kept(claim_mode mode) {
  const auto mine = std::ranges::find_if(kept_, [&](const kept_hold& k) {
    return k.mode == mode && k.thread == std::this_thread::get_id();
  });
  return mine != kept_.end() ? mine : std::ranges::find(kept_, mode, &kept_hold::mode);
}

void claim_body::set_self() {
  const std::lock_guard lock(line_->self_mutex);
  line_->self = {.thread = std::this_thread::get_id(), .object = this};
  line_->self_thread.store(line_->self.thread, std::memory_order_relaxed);
}

void claim_body::clear_self(std::thread::id locker) noexcept {
  const std::lock_guard lock(line_->self_mutex);
  if (line_->self.thread != locker || line_->self.object != this) return;
  line_->self = {};
  line_->self_thread.store({}, std::memory_order_relaxed);
}

spi::status misused(core& c, const std::string& name) noexcept {
  counters::up(c.stats().misused);
  c.tell({.what = event::kind::misused, .name = name, .at = boot_clock::now()});
  return {errc::not_owner, "nothing is locked"};
}

}  // namespace afar::detail
