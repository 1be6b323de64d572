// The std mutex interface over a claim, written once for mutex, fair_mutex and shared_mutex.
#pragma once

#include <afar/detail/claimable.hpp>

#include <utility>

namespace afar::detail {

// Lockable and TimedLockable. The lock belongs to the object, not to the thread: a std::unique_lock
// may be moved to another thread and unlocked there.
class AFAR_API basic_mutex : public claimable {
 public:
  // Blocks until held. Throws lock_error: errc::deadlock if this thread's own lock() holds the name,
  // errc::unavailable if the engine is away for longer than the client's patience, errc::closed.
  void lock() { keep({.by_lock = true}, nullptr); }
  void lock(std::error_code& ec) noexcept { keep({.by_lock = true}, &ec); }

  // False: busy. Throws lock_error if the engine cannot say.
  bool try_lock() { return keep({.by = deadline::no_wait(), .by_lock = true}, nullptr); }
  bool try_lock(std::error_code& ec) noexcept {
    return keep({.by = deadline::no_wait(), .by_lock = true}, &ec);
  }

  // False: not within that time.
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& d) {
    return keep({.by = deadline::after(d), .by_lock = true}, nullptr);
  }
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& d, std::error_code& ec) noexcept {
    return keep({.by = deadline::after(d), .by_lock = true}, &ec);
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& t) {
    return until(t, [&](deadline by) { return keep({.by = by, .by_lock = true}, nullptr); });
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& t,
                      std::error_code& ec) noexcept {
    return until(t,
                 [&](deadline by) {
                   return keep({.by = by, .by_lock = true}, &ec) || (ec && ec != errc::timed_out);
                 }) &&
           !ec;
  }

  // Releases and does not wait for the answer; it is repeated in the background until it is
  // confirmed or the lease is over. With nothing locked it does nothing but count a misuse.
  void unlock() noexcept { drop(claim_mode::exclusive, nullptr); }
  // Waits for the answer: errc::lost if it was gone before, errc::not_owner if nothing was locked.
  void unlock(std::error_code& ec) noexcept { drop(claim_mode::exclusive, &ec); }

  // The same lock as a value. acquire() waits also for this thread's own holds.
  [[nodiscard]] hold acquire(acquire_options o = {}) {
    return take({.options = std::move(o)}, nullptr);
  }
  [[nodiscard]] hold acquire(acquire_options o, std::error_code& ec) noexcept {
    return take({.options = std::move(o)}, &ec);
  }
  // An empty hold: busy, or not within that time.
  [[nodiscard]] hold try_acquire(acquire_options o = {}) {
    return take({.by = deadline::no_wait(), .options = std::move(o)}, nullptr);
  }
  [[nodiscard]] hold try_acquire(acquire_options o, std::error_code& ec) noexcept {
    return take({.by = deadline::no_wait(), .options = std::move(o)}, &ec);
  }
  template <class Rep, class Period>
  [[nodiscard]] hold try_acquire_for(const std::chrono::duration<Rep, Period>& d,
                                     acquire_options o = {}) {
    return take({.by = deadline::after(d), .options = std::move(o)}, nullptr);
  }
  template <class Rep, class Period>
  [[nodiscard]] hold try_acquire_for(const std::chrono::duration<Rep, Period>& d, acquire_options o,
                                     std::error_code& ec) noexcept {
    return take({.by = deadline::after(d), .options = std::move(o)}, &ec);
  }
  template <class Clock, class Duration>
  [[nodiscard]] hold try_acquire_until(const std::chrono::time_point<Clock, Duration>& t,
                                       acquire_options o = {}) {
    hold got;
    until(t, [&](deadline by) {
      got = take({.by = by, .options = o}, nullptr);
      return static_cast<bool>(got);
    });
    return got;
  }
  template <class Clock, class Duration>
  [[nodiscard]] hold try_acquire_until(const std::chrono::time_point<Clock, Duration>& t,
                                       acquire_options o, std::error_code& ec) noexcept {
    hold got;
    until(t, [&](deadline by) {
      got = take({.by = by, .options = o}, &ec);
      return static_cast<bool>(got) || (ec && ec != errc::timed_out);
    });
    return got;
  }

  // Of what lock() holds; 0, a token without a stop state, false if nothing is locked.
  std::uint64_t token() const noexcept { return kept_token(); }
  std::stop_token lost() const noexcept { return kept_lost(); }
  bool valid() const noexcept { return kept_valid(); }

 protected:
  using claimable::claimable;
  ~basic_mutex() = default;
};

}  // namespace afar::detail
