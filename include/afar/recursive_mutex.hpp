// afar::recursive_mutex: std::recursive_timed_mutex across machines.
#pragma once

#include <afar/detail/claimable.hpp>

#include <cstdint>

namespace afar {

// Lockable and TimedLockable. Belongs to the thread: the thread that holds the name may lock it again,
// also through another object of the same client and name, without a step of the engine. All depths
// share one token and one lease; if the lease is lost, all depths are. Excludes afar::mutex of the
// same name.
class AFAR_API recursive_mutex : private detail::claimable {
 public:
  recursive_mutex(const client& c, std::string name)
      : claimable(c, detail::claim_kind::mutex, std::move(name)) {}
  ~recursive_mutex() = default;

  using claimable::name;

  // Blocks until held. Throws lock_error; errc::overflow at a depth of 2^31, errc::lost if this thread
  // holds it but its lease is lost (unlock to its end, then lock again).
  void lock() { enter(detail::deadline::forever(), nullptr); }
  void lock(std::error_code& ec) noexcept { enter(detail::deadline::forever(), &ec); }
  bool try_lock() { return enter(detail::deadline::no_wait(), nullptr); }
  bool try_lock(std::error_code& ec) noexcept { return enter(detail::deadline::no_wait(), &ec); }

  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& d) {
    return enter(detail::deadline::after(d), nullptr);
  }
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& d, std::error_code& ec) noexcept {
    return enter(detail::deadline::after(d), &ec);
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& t) {
    return detail::until(t, [&](detail::deadline by) { return enter(by, nullptr); });
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& t,
                      std::error_code& ec) noexcept {
    return detail::until(t,
                         [&](detail::deadline by) {
                           return enter(by, &ec) || (ec && ec != errc::timed_out);
                         }) &&
           !ec;
  }

  // Leaves one depth; the last one releases and does not wait for the answer. A thread that holds
  // nothing does nothing but count a misuse.
  void unlock() noexcept { leave(nullptr); }
  void unlock(std::error_code& ec) noexcept { leave(&ec); }

  // Of this thread's hold; 0 if it has none.
  std::uint64_t token() const noexcept;
  std::stop_token lost() const noexcept;
  bool valid() const noexcept;
  std::uint32_t depth() const noexcept;

 private:
  bool enter(detail::deadline, std::error_code*);
  void leave(std::error_code*) noexcept;
};

}  // namespace afar
