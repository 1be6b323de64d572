// afar::counter: std::atomic<std::int64_t> across machines, with bounds and waiting.
#pragma once

#include <afar/detail/cell.hpp>

namespace afar {

// A counter that nobody has changed yet reads as `initial`. Every change takes effect exactly once,
// also when the engine's answer was lost on the way. Additions that leave 64 bits fail with
// errc::overflow and change nothing.
class AFAR_API counter : private detail::cell {
 public:
  counter(const client& c, std::string name, std::int64_t initial = 0)
      : cell(c, detail::cell_kind::counter, std::move(name), initial), initial_(initial) {}
  ~counter() = default;

  using cell::body;
  using cell::name;

  std::int64_t load() const { return read(nullptr).value_or(initial_); }
  std::int64_t load(std::error_code& ec) const noexcept { return read(&ec).value_or(initial_); }
  void store(std::int64_t v) { cell::exchange(v, nullptr); }
  void store(std::int64_t v, std::error_code& ec) noexcept { cell::exchange(v, &ec); }
  std::int64_t exchange(std::int64_t v) { return cell::exchange(v, nullptr); }
  std::int64_t exchange(std::int64_t v, std::error_code& ec) noexcept {
    return cell::exchange(v, &ec);
  }

  // The value before.
  std::int64_t fetch_add(std::int64_t n) { return add(n, {}, nullptr).value_or(0); }
  std::int64_t fetch_add(std::int64_t n, std::error_code& ec) noexcept {
    return add(n, {}, &ec).value_or(0);
  }
  std::int64_t fetch_sub(std::int64_t n) { return subtract(n, nullptr); }
  std::int64_t fetch_sub(std::int64_t n, std::error_code& ec) noexcept { return subtract(n, &ec); }

  // As fetch_add, but only if the result lies in [min, max]; empty: it would not, nothing changed.
  std::optional<std::int64_t> fetch_add_within(std::int64_t n, std::int64_t min, std::int64_t max) {
    return add(n, {min, max}, nullptr);
  }
  std::optional<std::int64_t> fetch_add_within(std::int64_t n, std::int64_t min, std::int64_t max,
                                               std::error_code& ec) noexcept {
    return add(n, {min, max}, &ec);
  }

  bool compare_exchange_strong(std::int64_t& expected, std::int64_t desired) {
    return compare_exchange(expected, desired, nullptr);
  }
  bool compare_exchange_strong(std::int64_t& expected, std::int64_t desired,
                               std::error_code& ec) noexcept {
    return compare_exchange(expected, desired, &ec);
  }

  // Blocks until the value differs from `old`; returns it. It may miss a value that was there for a
  // moment only.
  std::int64_t wait(std::int64_t old, std::stop_token stop = {}) const {
    return wait_change(old, detail::deadline::forever(), std::move(stop), nullptr).value_or(old);
  }
  std::int64_t wait(std::int64_t old, std::stop_token stop, std::error_code& ec) const noexcept {
    return wait_change(old, detail::deadline::forever(), std::move(stop), &ec).value_or(old);
  }
  // Empty: it did not change in that time.
  template <class Rep, class Period>
  std::optional<std::int64_t> wait_for(std::int64_t old,
                                       const std::chrono::duration<Rep, Period>& d) const {
    return wait_change(old, detail::deadline::after(d), {}, nullptr);
  }
  template <class Rep, class Period>
  std::optional<std::int64_t> wait_for(std::int64_t old,
                                       const std::chrono::duration<Rep, Period>& d,
                                       std::error_code& ec) const noexcept {
    return wait_change(old, detail::deadline::after(d), {}, &ec);
  }

  // Forgets the counter: it reads as `initial` again.
  void erase() { remove(nullptr); }
  void erase(std::error_code& ec) noexcept { remove(&ec); }

 private:
  std::int64_t subtract(std::int64_t, std::error_code*);

  std::int64_t initial_;
};

}  // namespace afar
