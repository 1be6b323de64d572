// afar::counting_semaphore: std::counting_semaphore across machines.
#pragma once

#include <afar/detail/cell.hpp>

#include <cstddef>

namespace afar {

namespace detail {

class AFAR_API semaphore_cell : private cell {
 public:
  using cell::body;
  using cell::name;

  // Blocks until the count is above zero, then takes one.
  void acquire(std::stop_token stop = {}) { down(deadline::forever(), std::move(stop), nullptr); }
  void acquire(std::stop_token stop, std::error_code& ec) noexcept {
    down(deadline::forever(), std::move(stop), &ec);
  }
  bool try_acquire() { return down(deadline::no_wait(), {}, nullptr); }
  bool try_acquire(std::error_code& ec) noexcept { return down(deadline::no_wait(), {}, &ec); }
  template <class Rep, class Period>
  bool try_acquire_for(const std::chrono::duration<Rep, Period>& d) {
    return down(deadline::after(d), {}, nullptr);
  }
  template <class Rep, class Period>
  bool try_acquire_for(const std::chrono::duration<Rep, Period>& d, std::error_code& ec) noexcept {
    return down(deadline::after(d), {}, &ec);
  }
  template <class Clock, class Duration>
  bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& t) {
    return until(t, [&](deadline by) { return down(by, {}, nullptr); });
  }
  template <class Clock, class Duration>
  bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& t,
                         std::error_code& ec) noexcept {
    return until(t,
                 [&](deadline by) { return down(by, {}, &ec) || (ec && ec != errc::timed_out); }) &&
           !ec;
  }

  // Adds n. errc::bad_argument if n is negative, errc::overflow above max().
  void release(std::ptrdiff_t n = 1) { up(n, nullptr); }
  void release(std::ptrdiff_t n, std::error_code& ec) noexcept { up(n, &ec); }

  // The count at some instant of the call; for people and metrics.
  std::ptrdiff_t available() const;
  std::ptrdiff_t available(std::error_code&) const noexcept;

 protected:
  semaphore_cell(const client&, std::string name, std::ptrdiff_t initial, std::ptrdiff_t most);
  ~semaphore_cell() = default;

 private:
  bool down(deadline, std::stop_token, std::error_code*);
  void up(std::ptrdiff_t, std::error_code*);

  std::ptrdiff_t initial_;
  std::ptrdiff_t most_;
};

}  // namespace detail

// Permits have no owner and no lease: anybody may release, and what a crashed process took is gone.
// Where it must come back, use afar::leased_semaphore.
template <std::ptrdiff_t LeastMax = 0x7fffffff>
class counting_semaphore : public detail::semaphore_cell {
 public:
  // A semaphore that nobody has used yet counts `initial`, else its count stays as it is.
  counting_semaphore(const client& c, std::string name, std::ptrdiff_t initial)
      : semaphore_cell(c, std::move(name), initial, LeastMax) {}
  static constexpr std::ptrdiff_t max() noexcept { return LeastMax; }
};

using binary_semaphore = counting_semaphore<1>;

}  // namespace afar
