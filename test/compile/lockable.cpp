// The named requirements of std, as static assertions.
#include <afar/afar.hpp>

#include <chrono>
#include <concepts>
#include <mutex>
#include <shared_mutex>

namespace {

using some_time = std::chrono::duration<double, std::milli>;
using some_point = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

template <class L>
concept basic_lockable = requires(L l) {
  { l.lock() } -> std::same_as<void>;
  { l.unlock() } noexcept -> std::same_as<void>;
};

template <class L>
concept lockable = basic_lockable<L> && requires(L l) {
  { l.try_lock() } -> std::same_as<bool>;
};

template <class L>
concept timed_lockable = lockable<L> && requires(L l, some_time d, some_point t) {
  { l.try_lock_for(d) } -> std::same_as<bool>;
  { l.try_lock_until(t) } -> std::same_as<bool>;
};

template <class L>
concept shared_timed_lockable = requires(L l, some_time d, some_point t) {
  { l.lock_shared() } -> std::same_as<void>;
  { l.unlock_shared() } noexcept -> std::same_as<void>;
  { l.try_lock_shared() } -> std::same_as<bool>;
  { l.try_lock_shared_for(d) } -> std::same_as<bool>;
  { l.try_lock_shared_until(t) } -> std::same_as<bool>;
};

static_assert(timed_lockable<afar::mutex>);
static_assert(timed_lockable<afar::fair_mutex>);
static_assert(timed_lockable<afar::recursive_mutex>);
static_assert(timed_lockable<afar::shared_mutex>);
static_assert(timed_lockable<afar::multi_lock>);
static_assert(shared_timed_lockable<afar::shared_mutex>);

static_assert(!shared_timed_lockable<afar::mutex>);
static_assert(!basic_lockable<afar::leased_semaphore>, "its permits are holds");

// The guards of std take them.
template <class L>
void guards(L& a, L& b) {
  const std::scoped_lock both{a, b};
  std::unique_lock<L> deferred{a, std::defer_lock};
  std::unique_lock<L> timed{a, some_time{1}};
  std::unique_lock<L> until{a, some_point{}};
  std::lock(deferred, timed);
}
template void guards(afar::mutex&, afar::mutex&);
template void guards(afar::fair_mutex&, afar::fair_mutex&);
template void guards(afar::recursive_mutex&, afar::recursive_mutex&);
template void guards(afar::shared_mutex&, afar::shared_mutex&);
template void guards(afar::multi_lock&, afar::multi_lock&);

[[maybe_unused]] void readers(afar::shared_mutex& m) {
  const std::shared_lock<afar::shared_mutex> plain{m};
  const std::shared_lock<afar::shared_mutex> timed{m, some_time{1}};
}

// What std's semaphore, latch and barrier can, ours can.
template <class S>
concept semaphore = requires(S s, some_time d, some_point t) {
  { s.acquire() } -> std::same_as<void>;
  { s.try_acquire() } -> std::same_as<bool>;
  { s.try_acquire_for(d) } -> std::same_as<bool>;
  { s.try_acquire_until(t) } -> std::same_as<bool>;
  { s.release() } -> std::same_as<void>;
  { s.release(2) } -> std::same_as<void>;
  { S::max() } noexcept -> std::same_as<std::ptrdiff_t>;
};
static_assert(semaphore<afar::counting_semaphore<>>);
static_assert(semaphore<afar::binary_semaphore>);
static_assert(afar::binary_semaphore::max() >= 1);

static_assert(requires(afar::latch l) {
  l.count_down();
  l.count_down(2);
  { l.try_wait() } -> std::same_as<bool>;
  l.wait();
  l.arrive_and_wait();
});
static_assert(requires(afar::barrier b) { b.arrive_and_wait(); });

}  // namespace
