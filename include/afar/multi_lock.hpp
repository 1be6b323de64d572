// afar::multi_lock: several locks as one, all or none, without deadlock.
#pragma once

#include <afar/detail/basic_mutex.hpp>

#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

namespace afar {

namespace detail {
class multi_body;
}

// Lockable and TimedLockable over mutexes (mutex, fair_mutex, shared_mutex's write side), also of
// different clients and engines. First it tries all at once without queueing; on any refusal it lets
// go of all and takes them one by one in an order that all processes share, under one deadline. The
// given objects must outlive nothing: only their names are used; the locks belong to the multi_lock.
// A name given twice is locked once.
class AFAR_API multi_lock {
 public:
  multi_lock(std::initializer_list<std::reference_wrapper<detail::basic_mutex>>);
  explicit multi_lock(const std::vector<std::reference_wrapper<detail::basic_mutex>>&);
  multi_lock(const multi_lock&) = delete;
  multi_lock& operator=(const multi_lock&) = delete;
  ~multi_lock();  // releases

  void lock() { enter(detail::deadline::forever(), {}, nullptr); }
  void lock(std::error_code& ec) noexcept { enter(detail::deadline::forever(), {}, &ec); }
  void lock(std::stop_token stop, std::error_code& ec) noexcept {
    enter(detail::deadline::forever(), std::move(stop), &ec);
  }
  bool try_lock() { return enter(detail::deadline::no_wait(), {}, nullptr); }
  bool try_lock(std::error_code& ec) noexcept {
    return enter(detail::deadline::no_wait(), {}, &ec);
  }
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& d) {
    return enter(detail::deadline::after(d), {}, nullptr);
  }
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& d, std::error_code& ec) noexcept {
    return enter(detail::deadline::after(d), {}, &ec);
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& t) {
    return detail::until(t, [&](detail::deadline by) { return enter(by, {}, nullptr); });
  }
  void unlock() noexcept;
  void unlock(std::error_code&) noexcept;  // the first failure; all are released

  // True while every part is valid. lost() fires when the first part is lost.
  bool valid() const noexcept;
  std::stop_token lost() const noexcept;
  // Of the i-th distinct lock in the order given; 0 while not locked.
  std::uint64_t token(std::size_t i) const noexcept;
  std::size_t size() const noexcept;

 private:
  bool enter(detail::deadline, std::stop_token, std::error_code*);
  std::unique_ptr<detail::multi_body> body_;
};

}  // namespace afar
