// Everything in afar that excludes, behind one face, so that what is true for all of them is tested
// for all of them.
#pragma once

#include "support/engines.hpp"

#include <afar/afar.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <vector>

namespace afar::test {

enum class lock_kind {
  mutex,
  recursive_mutex,
  fair_mutex,
  shared_mutex,      // its write side
  leased_semaphore,  // with one permit
  multi_lock,        // of one mutex
  election           // whoever leads holds it
};
std::string_view word(lock_kind) noexcept;
inline void PrintTo(lock_kind k, std::ostream* out) { *out << word(k); }

// TimedLockable.
class any_lock {
 public:
  any_lock() = default;
  any_lock(const any_lock&) = delete;
  any_lock& operator=(const any_lock&) = delete;
  virtual ~any_lock() = default;

  virtual void lock() = 0;
  virtual bool try_lock() = 0;
  virtual bool try_for(std::chrono::nanoseconds) = 0;
  virtual void unlock() noexcept = 0;
  virtual void unlock(std::error_code&) noexcept = 0;  // waits for the answer
  virtual std::uint64_t token() const = 0;
  virtual bool valid() const = 0;

  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& d) {
    return try_for(std::chrono::ceil<std::chrono::nanoseconds>(d));
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& t) {
    return try_lock_for(t - Clock::now());
  }
};

// What gives holds.
class hold_source {
 public:
  hold_source() = default;
  hold_source(const hold_source&) = delete;
  hold_source& operator=(const hold_source&) = delete;
  virtual ~hold_source() = default;

  virtual hold acquire(acquire_options = {}) = 0;
  virtual hold acquire(acquire_options, std::error_code&) = 0;
  virtual hold try_acquire_for(std::chrono::nanoseconds, acquire_options = {}) = 0;
  hold try_acquire(acquire_options o = {}) {
    return try_acquire_for(std::chrono::nanoseconds{0}, std::move(o));
  }
};

std::unique_ptr<any_lock> make_lock(lock_kind, const client&, const std::string& name);

// Not for recursive_mutex and multi_lock, which give none.
std::unique_ptr<hold_source> make_source(lock_kind, const client&, const std::string& name);

using engine_and_kind = std::tuple<engine, lock_kind>;

// A test that runs over engines and kinds of locks.
class any_lock_test : public ::testing::TestWithParam<engine_and_kind> {
 protected:
  void SetUp() override;

  const engine& where() const { return std::get<engine>(GetParam()); }
  lock_kind kind() const { return std::get<lock_kind>(GetParam()); }
  client connect(client_options o = {}) const { return test::connect(where(), std::move(o)); }
  auto lock_of(const client& c) const { return make_lock(kind(), c, name); }
  auto source_of(const client& c) const { return make_source(kind(), c, name); }

  client one = connect();
  client two = connect();
  const std::string name = fresh_name();
};

inline std::string engine_and_kind_name(const ::testing::TestParamInfo<engine_and_kind>& info) {
  return std::get<engine>(info.param).name + "_" +
         std::string{word(std::get<lock_kind>(info.param))};
}

inline const std::vector<lock_kind> every_lock{
    lock_kind::mutex,        lock_kind::recursive_mutex,  lock_kind::fair_mutex,
    lock_kind::shared_mutex, lock_kind::leased_semaphore, lock_kind::multi_lock,
    lock_kind::election};
inline const std::vector<lock_kind> locks_but_recursive_mutex{
    lock_kind::mutex,        lock_kind::fair_mutex,
    lock_kind::shared_mutex, lock_kind::leased_semaphore,
    lock_kind::multi_lock,   lock_kind::election};
inline const std::vector<lock_kind> locks_with_holds{
    lock_kind::mutex, lock_kind::fair_mutex, lock_kind::shared_mutex, lock_kind::leased_semaphore,
    lock_kind::election};
// Those whose lock() is kept in the object.
inline const std::vector<lock_kind> mutex_kinds{lock_kind::mutex, lock_kind::fair_mutex,
                                                lock_kind::shared_mutex};

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): gtest's own macro wants a literal suite name
#define AFAR_FOR_EVERY_ENGINE_AND(suite, kinds)                                                   \
  INSTANTIATE_TEST_SUITE_P(                                                                       \
      , suite,                                                                                    \
      ::testing::Combine(::testing::ValuesIn(afar::test::engines()), ::testing::ValuesIn(kinds)), \
      afar::test::engine_and_kind_name)

}  // namespace afar::test
