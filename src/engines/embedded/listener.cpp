#include "engines/embedded/listener.hpp"

#include <afar/detail/fault.hpp>

#include <pthread.h>
#include <csignal>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace afar::engines::embedded {
namespace {

// A blocked caller watches first and drives a moment later. Until then the bell thread stays away;
// dirty bits wait for whoever comes.
constexpr std::chrono::milliseconds grace{2};

// What this thread listens to since before its last look at the state.
struct expectation {
  std::uint64_t by = 0;  // a listener's number: another may be made where one was
  std::size_t bucket = 0;
  std::uint32_t stirred = 0;
};
thread_local expectation expected;

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

listener::listener(doorbell& bell, std::optional<std::size_t> slot)
    : number_(next_number()), bell_(bell), slot_(slot) {}

void listener::stop() noexcept {
  {
    const std::lock_guard guard{mutex_};
    ending_ = true;
  }
  thread_called_.notify_all();
  if (slot_) bell_.poke(*slot_);
  if (thread_.joinable()) thread_.join();
}

void listener::expect(std::size_t bucket) noexcept {
  expected = {number_, bucket, stirred_[bucket].load()};  // first this, then listen (inv 4)
  if (slot_) bell_.listen(*slot_, bucket);
}

// False: something may have been missed; from now on this thread listens.
bool listener::listens_since_last_look(std::size_t bucket) noexcept {
  const auto before = std::exchange(expected, {});
  if (before.by == number_ && before.bucket == bucket && before.stirred == stirred_[bucket].load())
    return true;
  expect(bucket);
  return false;
}

bool listener::watch(const std::shared_ptr<ear>& who, std::string_view key) {
  const std::lock_guard guard{mutex_};
  table_.add(who, key);
  if (!slot_) return true;
  if (leader_ == nullptr) call_bell_thread();  // (inv 3)
  return !listens_since_last_look(bucket_of(key));
}

void listener::unwatch(const ear* who, std::string_view key) noexcept {
  const std::lock_guard guard{mutex_};
  if (table_.remove(who, key)) stop_listening(bucket_of(key));
}

void listener::unwatch_all(const ear* who) noexcept {
  const std::lock_guard guard{mutex_};
  for (const std::size_t bucket : table_.remove_all(who)) stop_listening(bucket);
}

void listener::stop_listening(std::size_t bucket) noexcept {
  const auto wants = [&](const driver* d) { return d != nullptr && d->bucket == bucket; };
  if (!slot_ || table_.heard(bucket) || wants(leader_) || std::ranges::any_of(parked_, wants))
    return;
  bell_.stop_listening(*slot_, bucket);
  ++stirred_[bucket];
}

void listener::ring_here(std::size_t bucket, std::string_view key) noexcept {
  table_.wake(bucket, key);
  nudge();  // the leader's own waiter may be the one that is ready now
}

void listener::nudge() noexcept {
  if (!slot_) return;
  const std::lock_guard guard{mutex_};
  if (leader_ != nullptr) bell_.poke(*slot_);
}

void listener::call_drivers(std::size_t bucket) noexcept {
  ++stirred_[bucket];
  const std::lock_guard guard{mutex_};
  for (driver* d : parked_) {
    if (d->bucket != bucket) continue;
    d->rung.store(true, std::memory_order_release);
    d->who.notify();
  }
  if (leader_ != nullptr && leader_->bucket == bucket) {
    if (!leader_->rung.exchange(true)) bell_.poke(*slot_);
  } else {
    stop_listening(bucket);  // for a claim that was given up before it slept
  }
}

void listener::deliver() noexcept {
  bell_.drain(*slot_, [&](std::size_t bucket) {
    call_drivers(bucket);
    if (table_.heard(bucket)) table_.wake_bucket(bucket);
  });
}

bool listener::drive(spi::waiter& w, spi::time_point until) noexcept {
  const std::string_view key = w.key();
  driver me{w, key.empty() ? std::nullopt : std::optional{bucket_of(key)}};
  std::unique_lock lock{mutex_};
  if (me.bucket && !listens_since_last_look(*me.bucket)) return true;
  while (!me.over(until)) {
    const bool leads = slot_ && leader_ == nullptr;
    if (leads)
      leader_ = &me;
    else
      parked_.push_back(&me);
    lock.unlock();
    if (leads)
      lead(me, until);
    else
      w.park_until(until);
    lock.lock();
    if (leads)
      leader_ = nullptr;
    else
      std::erase(parked_, &me);
  }
  // Also one that was only parked: it may have been poked on its way out.
  if (leader_ == nullptr) hand_on_lead();
  if (me.bucket) stop_listening(*me.bucket);
  return me.rung.load(std::memory_order_relaxed);
}

void listener::lead(driver& me, spi::time_point until) noexcept {
  for (;;) {
    const std::uint32_t seen = bell_.word(*slot_);
    deliver();
    if (me.over(until)) return;  // (inv 2)
    AFAR_FAULT("embedded.drive.waiting");
    bell_.wait(*slot_, seen, until);
  }
}

void listener::hand_on_lead() noexcept {
  if (!parked_.empty())
    parked_.front()->who.notify();  // under the mutex: it cannot go away meanwhile
  else if (slot_ && table_.count() > 0)
    call_bell_thread();
}

void listener::call_bell_thread() noexcept {
  if (thread_listens_ || thread_needed_ || ending_) return;
  thread_needed_ = true;
  if (thread_.joinable()) return thread_called_.notify_one();
  // The user's signal handlers are not to run on it.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread{[this] { run_bell_thread(); }};
  } catch (const std::system_error&) {
    thread_needed_ = false;  // no thread to be had: everybody looks again by retry_after
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void listener::run_bell_thread() {
  ::pthread_setname_np(::pthread_self(), "afar-bell");
  std::unique_lock lock{mutex_};
  while (!ending_) {
    thread_called_.wait(lock, [&] { return thread_needed_ || ending_; });
    thread_called_.wait_for(lock, grace, [&] { return ending_; });
    thread_needed_ = false;
    // Once it listens it stays, also without a watch: that costs nothing, and the next one comes.
    if (leader_ != nullptr || table_.count() == 0) continue;
    thread_listens_ = true;
    while (leader_ == nullptr && !ending_) {
      const std::uint32_t seen = bell_.word(*slot_);
      lock.unlock();
      deliver();
      bell_.wait(*slot_, seen, spi::time_point::max());
      lock.lock();
    }
    thread_listens_ = false;
  }
}

}  // namespace afar::engines::embedded
