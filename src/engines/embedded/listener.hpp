// This process's end of the doorbell: who waits on the futex word, and who is told of a ring.
//
// A blocked caller brings its key along and waits on the word itself (it leads), so that a hand-over
// costs one wake-up, no thread hop and no table; further callers park, and a leader that leaves pokes
// one of them. Where somebody watches and nobody leads (asynchronous waits), a thread of our own
// listens.
//
// Invariants
//   1. At most one caller leads. The bell thread may listen beside it for one ring: both drain, and
//      every dirty bit is delivered by one of them.
//   2. The word is read before the state is looked at, and the state before sleeping.
//   3. If there is a watch, then somebody leads, or the bell thread listens or is about to.
//   4. A bucket is stirred when it was rung or is no longer listened to. Who listened before a look
//      at the state, and finds under mutex_ that it was not stirred since, has missed nothing.
#pragma once

#include "engines/embedded/doorbell.hpp"
#include "engines/embedded/watch_table.hpp"

#include <afar/spi/engine.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

namespace afar::engines::embedded {

class listener {
 public:
  // Without a slot nothing is heard, and callers look again by themselves.
  listener(doorbell& bell, std::optional<std::size_t> slot);
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  ~listener() { stop(); }

  // Ends the bell thread; nothing is heard any more. Not on that thread itself.
  void stop() noexcept;
  bool on_bell_thread() const noexcept { return thread_.get_id() == std::this_thread::get_id(); }

  // A claim is being refused; called inside the gate, for the bucket of its key. What is rung from
  // now on finds us listening, so that this thread's watch() or drive() of the key need not ask for
  // another look.
  void expect(std::size_t bucket) noexcept;
  // True: the key may have been rung before the watch took hold.
  bool watch(const std::shared_ptr<ear>&, std::string_view key);
  void unwatch(const ear*, std::string_view key) noexcept;
  void unwatch_all(const ear*) noexcept;

  // Wakes whoever watches the key, here and in other processes. `make_key` runs only if somebody
  // of this process might.
  template <class MakeKey>
  void ring(std::size_t bucket, MakeKey&& make_key) noexcept {
    if (bell_.ring(bucket, slot_.value_or(slot_count)) || !slot_) call_drivers(bucket);
    if (table_.heard(bucket)) ring_here(bucket, make_key());
  }

  // See spi::engine::drive.
  bool drive(spi::waiter&, spi::time_point until) noexcept;
  void nudge() noexcept;

 private:
  // A blocked caller, while it is in drive().
  struct driver {
    bool over(spi::time_point until) const noexcept {
      return rung.load(std::memory_order_acquire) || who.ready() || boot_clock::now() >= until;
    }
    spi::waiter& who;
    const std::optional<std::size_t> bucket;
    std::atomic<bool> rung{false};
  };

  void ring_here(std::size_t bucket, std::string_view key) noexcept;
  void call_drivers(std::size_t bucket) noexcept;
  void deliver() noexcept;
  bool listens_since_last_look(std::size_t bucket) noexcept;
  void lead(driver&, spi::time_point until) noexcept;
  // ---- under mutex_
  void stop_listening(std::size_t bucket) noexcept;  // unless somebody else wants it
  void hand_on_lead() noexcept;
  void call_bell_thread() noexcept;
  // ----
  void run_bell_thread();

  const std::uint64_t number_;
  doorbell& bell_;
  const std::optional<std::size_t> slot_;
  watch_table table_;
  std::array<std::atomic<std::uint32_t>, bucket_count> stirred_{};  // (inv 4)

  std::mutex mutex_;  // guards all below
  driver* leader_ = nullptr;
  bool thread_needed_ = false;  // the bell thread shall look whether it must listen
  bool thread_listens_ = false;
  bool ending_ = false;
  std::vector<driver*> parked_;
  std::condition_variable thread_called_;
  std::thread thread_;
};

}  // namespace afar::engines::embedded
