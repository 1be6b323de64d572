// afar::shared_mutex: std::shared_timed_mutex across machines.
#pragma once

#include <afar/detail/basic_mutex.hpp>

namespace afar {

// SharedTimedLockable: one writer or many readers. A writer that waits keeps later readers out.
// Every reader has a hold, a lease and a token of its own. A mutex of the same name is one more writer
// on engines that store both alike (memory:, local:, file:); others refuse it.
class AFAR_API shared_mutex : public detail::basic_mutex {
  using mode = detail::claim_mode;

 public:
  shared_mutex(const client& c, std::string name)
      : basic_mutex(c, detail::claim_kind::shared_mutex, std::move(name)) {}

  void lock_shared() { keep({.mode = mode::shared}, nullptr); }
  void lock_shared(std::error_code& ec) noexcept { keep({.mode = mode::shared}, &ec); }
  bool try_lock_shared() {
    return keep({.mode = mode::shared, .by = detail::deadline::no_wait()}, nullptr);
  }
  bool try_lock_shared(std::error_code& ec) noexcept {
    return keep({.mode = mode::shared, .by = detail::deadline::no_wait()}, &ec);
  }
  template <class Rep, class Period>
  bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& d) {
    return keep({.mode = mode::shared, .by = detail::deadline::after(d)}, nullptr);
  }
  template <class Rep, class Period>
  bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& d,
                           std::error_code& ec) noexcept {
    return keep({.mode = mode::shared, .by = detail::deadline::after(d)}, &ec);
  }
  template <class Clock, class Duration>
  bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& t) {
    return detail::until(
        t, [&](detail::deadline by) { return keep({.mode = mode::shared, .by = by}, nullptr); });
  }
  template <class Clock, class Duration>
  bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& t,
                             std::error_code& ec) noexcept {
    return detail::until(t,
                         [&](detail::deadline by) {
                           return keep({.mode = mode::shared, .by = by}, &ec) ||
                                  (ec && ec != errc::timed_out);
                         }) &&
           !ec;
  }
  // Releases one of the shared locks that this object holds.
  void unlock_shared() noexcept { drop(mode::shared, nullptr); }
  void unlock_shared(std::error_code& ec) noexcept { drop(mode::shared, &ec); }

  [[nodiscard]] hold acquire_shared(acquire_options o = {}) {
    return take({.mode = mode::shared, .options = std::move(o)}, nullptr);
  }
  [[nodiscard]] hold acquire_shared(acquire_options o, std::error_code& ec) noexcept {
    return take({.mode = mode::shared, .options = std::move(o)}, &ec);
  }
  [[nodiscard]] hold try_acquire_shared(acquire_options o = {}) {
    return take({.mode = mode::shared, .by = detail::deadline::no_wait(), .options = std::move(o)},
                nullptr);
  }
  [[nodiscard]] hold try_acquire_shared(acquire_options o, std::error_code& ec) noexcept {
    return take({.mode = mode::shared, .by = detail::deadline::no_wait(), .options = std::move(o)},
                &ec);
  }
  template <class Rep, class Period>
  [[nodiscard]] hold try_acquire_shared_for(const std::chrono::duration<Rep, Period>& d,
                                            acquire_options o = {}) {
    return take({.mode = mode::shared, .by = detail::deadline::after(d), .options = std::move(o)},
                nullptr);
  }
  template <class Rep, class Period>
  [[nodiscard]] hold try_acquire_shared_for(const std::chrono::duration<Rep, Period>& d,
                                            acquire_options o, std::error_code& ec) noexcept {
    return take({.mode = mode::shared, .by = detail::deadline::after(d), .options = std::move(o)},
                &ec);
  }

  // Turns the one shared lock of this object (or the given hold) into the exclusive one, atomically
  // and with a new token, if there is no other reader; false: there is, and it stays shared. Never
  // waits: two readers that waited for each other would do so for ever.
  [[nodiscard]] bool try_upgrade() { return convert_kept(mode::exclusive, nullptr); }
  [[nodiscard]] bool try_upgrade(std::error_code& ec) noexcept {
    return convert_kept(mode::exclusive, &ec);
  }
  [[nodiscard]] bool try_upgrade(hold& h) { return convert(h, mode::exclusive, nullptr); }
  [[nodiscard]] bool try_upgrade(hold& h, std::error_code& ec) noexcept {
    return convert(h, mode::exclusive, &ec);
  }

  // Turns the exclusive lock into a shared one without letting a writer in between; the token stays.
  void downgrade() { convert_kept(mode::shared, nullptr); }
  void downgrade(std::error_code& ec) noexcept { convert_kept(mode::shared, &ec); }
  void downgrade(hold& h) { convert(h, mode::shared, nullptr); }
  void downgrade(hold& h, std::error_code& ec) noexcept { convert(h, mode::shared, &ec); }
};

}  // namespace afar
