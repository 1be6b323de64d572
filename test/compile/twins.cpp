// Every twin that takes std::error_code& is noexcept, and so is everything that ends a hold.
#include <afar/afar.hpp>

#include <chrono>
#include <string_view>

namespace {

using std::chrono::milliseconds;
using point = std::chrono::system_clock::time_point;

// AFAR_TWIN(afar::mutex, lock, ec): what.lock(ec) is noexcept.
#define AFAR_TWIN(type, call, ...)                                                                \
  static_assert(requires(type what, const type same, std::error_code ec, std::stop_token stop,    \
                         milliseconds d, point t, afar::hold h, std::int64_t n,                   \
                         std::string_view text, afar::acquire_options o, afar::stock_options s) { \
    { what.call(__VA_ARGS__) } noexcept;                                                          \
  })

// clang-format off
#define AFAR_MUTEX_TWINS(type)                \
  AFAR_TWIN(type, lock, ec);                  \
  AFAR_TWIN(type, try_lock, ec);              \
  AFAR_TWIN(type, try_lock_for, d, ec);       \
  AFAR_TWIN(type, try_lock_until, t, ec);     \
  AFAR_TWIN(type, unlock, ec);                \
  AFAR_TWIN(type, unlock);                    \
  AFAR_TWIN(type, token);                     \
  AFAR_TWIN(type, valid);                     \
  AFAR_TWIN(type, lost)
#define AFAR_HOLD_TWINS(type)                        \
  AFAR_TWIN(type, acquire, o, ec);                   \
  AFAR_TWIN(type, try_acquire, o, ec);               \
  AFAR_TWIN(type, try_acquire_for, d, o, ec);        \
  AFAR_TWIN(type, try_acquire_until, t, o, ec)
// clang-format on

AFAR_MUTEX_TWINS(afar::mutex);
AFAR_MUTEX_TWINS(afar::fair_mutex);
AFAR_MUTEX_TWINS(afar::shared_mutex);
AFAR_MUTEX_TWINS(afar::recursive_mutex);
AFAR_TWIN(afar::recursive_mutex, depth);
AFAR_HOLD_TWINS(afar::mutex);
AFAR_HOLD_TWINS(afar::fair_mutex);
AFAR_HOLD_TWINS(afar::shared_mutex);

AFAR_TWIN(afar::shared_mutex, lock_shared, ec);
AFAR_TWIN(afar::shared_mutex, try_lock_shared, ec);
AFAR_TWIN(afar::shared_mutex, try_lock_shared_for, d, ec);
AFAR_TWIN(afar::shared_mutex, try_lock_shared_until, t, ec);
AFAR_TWIN(afar::shared_mutex, unlock_shared);
AFAR_TWIN(afar::shared_mutex, unlock_shared, ec);
AFAR_TWIN(afar::shared_mutex, acquire_shared, o, ec);
AFAR_TWIN(afar::shared_mutex, try_acquire_shared, o, ec);
AFAR_TWIN(afar::shared_mutex, try_acquire_shared_for, d, o, ec);
AFAR_TWIN(afar::shared_mutex, try_upgrade, ec);
AFAR_TWIN(afar::shared_mutex, try_upgrade, h, ec);
AFAR_TWIN(afar::shared_mutex, downgrade, ec);
AFAR_TWIN(afar::shared_mutex, downgrade, h, ec);

AFAR_TWIN(afar::multi_lock, lock, ec);
AFAR_TWIN(afar::multi_lock, lock, stop, ec);
AFAR_TWIN(afar::multi_lock, try_lock, ec);
AFAR_TWIN(afar::multi_lock, try_lock_for, d, ec);
AFAR_TWIN(afar::multi_lock, unlock);
AFAR_TWIN(afar::multi_lock, unlock, ec);
AFAR_TWIN(afar::multi_lock, valid);
AFAR_TWIN(afar::multi_lock, lost);
AFAR_TWIN(afar::multi_lock, token, 0);

AFAR_TWIN(afar::leased_semaphore, acquire, 1, o, ec);
AFAR_TWIN(afar::leased_semaphore, try_acquire, 1, o, ec);
AFAR_TWIN(afar::leased_semaphore, try_acquire_for, d, 1, o, ec);

AFAR_TWIN(afar::counting_semaphore<>, acquire, stop, ec);
AFAR_TWIN(afar::counting_semaphore<>, try_acquire, ec);
AFAR_TWIN(afar::counting_semaphore<>, try_acquire_for, d, ec);
AFAR_TWIN(afar::counting_semaphore<>, try_acquire_until, t, ec);
AFAR_TWIN(afar::counting_semaphore<>, release, 1, ec);
AFAR_TWIN(afar::counting_semaphore<>, available, ec);

AFAR_TWIN(afar::latch, count_down, 1, ec);
AFAR_TWIN(afar::latch, try_wait, ec);
AFAR_TWIN(afar::latch, wait, stop, ec);
AFAR_TWIN(afar::latch, wait_for, d, ec);
AFAR_TWIN(afar::latch, arrive_and_wait, 1, ec);
AFAR_TWIN(afar::latch, remaining, ec);

AFAR_TWIN(afar::barrier, arrive_and_wait, stop, ec);
AFAR_TWIN(afar::barrier, arrive_and_wait_for, d, ec);

AFAR_TWIN(afar::counter, load, ec);
AFAR_TWIN(afar::counter, store, 1, ec);
AFAR_TWIN(afar::counter, exchange, 1, ec);
AFAR_TWIN(afar::counter, fetch_add, 1, ec);
AFAR_TWIN(afar::counter, fetch_sub, 1, ec);
AFAR_TWIN(afar::counter, fetch_add_within, 1, 0, 9, ec);
AFAR_TWIN(afar::counter, compare_exchange_strong, n, 1, ec);
AFAR_TWIN(afar::counter, wait, 0, stop, ec);
AFAR_TWIN(afar::counter, wait_for, 0, d, ec);
AFAR_TWIN(afar::counter, erase, ec);

AFAR_TWIN(afar::election, campaign, text, o, ec);
AFAR_TWIN(afar::election, proclaim, h, text, ec);
AFAR_TWIN(afar::election, resign, h, ec);
AFAR_TWIN(afar::election, current, ec);

AFAR_TWIN(afar::stock, set, 1, s, ec);
AFAR_TWIN(afar::stock, add, 1, ec);
AFAR_TWIN(afar::stock, take, 1, text, text, ec);
AFAR_TWIN(afar::stock, put_back, text, ec);
AFAR_TWIN(afar::stock, reserve, 1, text, text, d, ec);
AFAR_TWIN(afar::stock, commit, text, ec);
AFAR_TWIN(afar::stock, cancel, text, ec);
AFAR_TWIN(afar::stock, levels, ec);
AFAR_TWIN(afar::stock, remaining, ec);
AFAR_TWIN(afar::stock, erase, ec);

AFAR_TWIN(afar::hold, release, ec);
AFAR_TWIN(afar::hold, valid);
AFAR_TWIN(afar::hold, valid_until);
AFAR_TWIN(afar::hold, token);
AFAR_TWIN(afar::hold, lost);
AFAR_TWIN(afar::hold, why);
AFAR_TWIN(afar::hold, name);

AFAR_TWIN(afar::client, close);
AFAR_TWIN(afar::client, stats);
AFAR_TWIN(afar::client, url);
AFAR_TWIN(afar::fence, admit, 1, ec);

static_assert(requires(const afar::client c, const std::string name, std::error_code ec) {
  { afar::survey(c, "", ec) } noexcept;
  { afar::inspect(c, name, ec) } noexcept;
  { afar::evict(c, name, 1, ec) } noexcept;
  { afar::examine(c, ec) } noexcept;
  { afar::collect(c, ec) } noexcept;
});

static_assert(std::is_nothrow_constructible_v<afar::client, std::string_view, afar::client_options,
                                              std::error_code&>);

}  // namespace
