// afar::latch: std::latch across machines, with timed and cancellable waits.
#pragma once

#include <afar/detail/cell.hpp>

#include <cstddef>

namespace afar {

// Single use: once at zero it stays open (engines forget an open latch after a day). A count_down
// whose answer was lost counts once.
class AFAR_API latch : private detail::cell {
 public:
  // Whoever comes first sets the count.
  latch(const client& c, std::string name, std::ptrdiff_t expected);
  // Joins: waits also for somebody to set the count; count_down before that is errc::wrong_use.
  latch(const client& c, std::string name);
  ~latch() = default;

  using cell::body;
  using cell::name;

  void count_down(std::ptrdiff_t n = 1) { down(n, nullptr); }
  void count_down(std::ptrdiff_t n, std::error_code& ec) noexcept { down(n, &ec); }

  bool try_wait() const { return wait_zero(detail::deadline::no_wait(), {}, nullptr); }
  bool try_wait(std::error_code& ec) const noexcept {
    return wait_zero(detail::deadline::no_wait(), {}, &ec);
  }
  void wait(std::stop_token stop = {}) const {
    wait_zero(detail::deadline::forever(), std::move(stop), nullptr);
  }
  void wait(std::stop_token stop, std::error_code& ec) const noexcept {
    wait_zero(detail::deadline::forever(), std::move(stop), &ec);
  }
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& d) const {
    return wait_zero(detail::deadline::after(d), {}, nullptr);
  }
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& d, std::error_code& ec) const noexcept {
    return wait_zero(detail::deadline::after(d), {}, &ec);
  }
  void arrive_and_wait(std::ptrdiff_t n = 1) {
    count_down(n);
    wait();
  }
  void arrive_and_wait(std::ptrdiff_t n, std::error_code& ec) noexcept {
    count_down(n, ec);
    if (!ec) wait({}, ec);
  }

  // What is still to count; empty: nobody has set the count.
  std::optional<std::ptrdiff_t> remaining() const;
  std::optional<std::ptrdiff_t> remaining(std::error_code&) const noexcept;

 private:
  void down(std::ptrdiff_t, std::error_code*);
};

}  // namespace afar
