// afar::leased_semaphore: permits that have an owner and come back when the owner dies.
#pragma once

#include <afar/detail/claimable.hpp>

#include <utility>

namespace afar {

// At most `limit` permits are out at a time; one hold may take several, all or none. Waiters are
// served in order, so a large request is not starved by small ones. Everybody must name the same
// limit (errc::wrong_use). std::counting_semaphore's form without owners: afar::counting_semaphore.
class AFAR_API leased_semaphore : private detail::claimable {
 public:
  leased_semaphore(const client& c, std::string name, std::uint32_t limit)
      : claimable(c, detail::claim_kind::permits, std::move(name), limit) {}
  ~leased_semaphore() = default;

  using claimable::body;
  using claimable::name;

  // Blocks until `permits` are free. errc::bad_argument for 0 or more than the limit.
  [[nodiscard]] hold acquire(std::uint32_t permits = 1, acquire_options o = {}) {
    return take({.permits = permits, .options = std::move(o)}, nullptr);
  }
  [[nodiscard]] hold acquire(std::uint32_t permits, acquire_options o,
                             std::error_code& ec) noexcept {
    return take({.permits = permits, .options = std::move(o)}, &ec);
  }
  // An empty hold: not enough are free, or not within that time.
  [[nodiscard]] hold try_acquire(std::uint32_t permits = 1, acquire_options o = {}) {
    return take({.permits = permits, .by = detail::deadline::no_wait(), .options = std::move(o)},
                nullptr);
  }
  [[nodiscard]] hold try_acquire(std::uint32_t permits, acquire_options o,
                                 std::error_code& ec) noexcept {
    return take({.permits = permits, .by = detail::deadline::no_wait(), .options = std::move(o)},
                &ec);
  }
  template <class Rep, class Period>
  [[nodiscard]] hold try_acquire_for(const std::chrono::duration<Rep, Period>& d,
                                     std::uint32_t permits = 1, acquire_options o = {}) {
    return take({.permits = permits, .by = detail::deadline::after(d), .options = std::move(o)},
                nullptr);
  }
  template <class Rep, class Period>
  [[nodiscard]] hold try_acquire_for(const std::chrono::duration<Rep, Period>& d,
                                     std::uint32_t permits, acquire_options o,
                                     std::error_code& ec) noexcept {
    return take({.permits = permits, .by = detail::deadline::after(d), .options = std::move(o)},
                &ec);
  }
};

}  // namespace afar
