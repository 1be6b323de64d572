#include "engines/embedded/listener.hpp"

#include <afar/detail/fault.hpp>

#include <pthread.h>
#include <csignal>

#include <chrono>
#include <system_error>
#include <utility>

namespace afar::engines::embedded {
namespace {

// A blocked caller watches first and drives a moment later. Until then the bell thread stays away;
// dirty bits wait for whoever comes.
constexpr std::chrono::milliseconds grace{2};

// What this thread's last refused claim listens to; a refusal and its watch() follow each other.
struct expectation {
  const listener* by = nullptr;
  std::size_t bucket = 0;
  std::uint64_t deliveries = 0;
};
thread_local expectation expected;

}  // namespace

listener::listener(doorbell& bell, std::optional<std::size_t> slot) : bell_(bell), slot_(slot) {}

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
  if (!slot_) return;
  bell_.listen(*slot_, bucket);
  expected = {this, bucket, deliveries_.load()};
}

bool listener::watch(const std::shared_ptr<ear>& who, std::string_view key) {
  const bool first = table_.add(who, key);
  if (!slot_) return true;
  const std::size_t bucket = bucket_of(key);
  const auto before = std::exchange(expected, {});
  const bool in_time = before.by == this && before.bucket == bucket;
  if (first && !in_time) bell_.listen(*slot_, bucket);
  const bool missed = !in_time || deliveries_.load() != before.deliveries;
  const std::lock_guard guard{mutex_};
  if (!led_) call_bell_thread();  // (inv 3)
  return missed;
}

void listener::unwatch(const ear* who, std::string_view key) noexcept {
  if (!table_.remove(who, key) || !slot_) return;
  const std::size_t bucket = bucket_of(key);
  bell_.stop_listening(*slot_, bucket);
  // Somebody may have begun to watch between the two lines above.
  if (table_.heard(bucket)) bell_.listen(*slot_, bucket);
}

void listener::unwatch_all(const ear* who) noexcept {
  for (const std::size_t bucket : table_.remove_all(who)) {
    if (!slot_) continue;
    bell_.stop_listening(*slot_, bucket);
    if (table_.heard(bucket)) bell_.listen(*slot_, bucket);
  }
}

void listener::ring_here(std::size_t bucket, std::string_view key) noexcept {
  table_.wake(bucket, key);
  nudge();  // the leader's own waiter may be the one that is ready now
}

void listener::nudge() noexcept {
  if (!slot_) return;
  const std::lock_guard guard{mutex_};
  if (led_) bell_.poke(*slot_);
}

void listener::deliver() noexcept {
  ++deliveries_;
  bell_.drain(*slot_, [&](std::size_t bucket) { table_.wake_bucket(bucket); });
}

void listener::drive(spi::waiter& w, spi::time_point until) noexcept {
  if (!slot_) return w.park_until(until);
  {
    std::unique_lock lock{mutex_};
    if (led_) {
      parked_.push_back(&w);
      lock.unlock();
      w.park_until(until);
      lock.lock();
      std::erase(parked_, &w);
      // A poke that meets a waiter on its way out is passed on.
      if (!led_ && (w.ready() || boot_clock::now() >= until)) hand_on_lead();
      return;
    }
    led_ = true;
  }
  lead(w, until);
  leave_lead();
}

void listener::lead(spi::waiter& w, spi::time_point until) noexcept {
  for (;;) {
    const std::uint32_t seen = bell_.word(*slot_);
    deliver();
    if (w.ready() || boot_clock::now() >= until) return;  // (inv 2)
    AFAR_FAULT("embedded.drive.waiting");
    bell_.wait(*slot_, seen, until);
  }
}

void listener::leave_lead() noexcept {
  const std::lock_guard guard{mutex_};
  led_ = false;
  hand_on_lead();
}

void listener::hand_on_lead() noexcept {
  if (!parked_.empty())
    parked_.front()->notify();  // under the mutex: it cannot go away meanwhile
  else if (table_.count() > 1)
    call_bell_thread();  // one watch is the leaver's own, and it looks for itself now
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
    if (led_ || table_.count() == 0) continue;
    thread_listens_ = true;
    while (!led_ && !ending_) {
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
