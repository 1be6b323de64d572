// What may be copied, moved and compared.
#include <afar/afar.hpp>

#include <concepts>
#include <type_traits>

namespace {

// Holds move without throwing and do not copy.
static_assert(std::is_nothrow_move_constructible_v<afar::hold>);
static_assert(std::is_nothrow_move_assignable_v<afar::hold>);
static_assert(std::is_nothrow_default_constructible_v<afar::hold>);
static_assert(std::is_nothrow_destructible_v<afar::hold>);
static_assert(!std::is_copy_constructible_v<afar::hold>);
static_assert(!std::is_copy_assignable_v<afar::hold>);
static_assert(!std::is_convertible_v<afar::hold, bool>, "only in conditions");
static_assert(std::is_constructible_v<bool, afar::hold>);

// Clients copy and move without throwing.
static_assert(std::is_nothrow_copy_constructible_v<afar::client>);
static_assert(std::is_nothrow_move_constructible_v<afar::client>);
static_assert(std::is_nothrow_copy_assignable_v<afar::client>);
static_assert(std::is_nothrow_move_assignable_v<afar::client>);
static_assert(!std::is_convertible_v<std::string_view, afar::client>, "opening is explicit");

template <class T>
concept immovable = !std::is_copy_constructible_v<T> && !std::is_move_constructible_v<T> &&
                    !std::is_copy_assignable_v<T> && !std::is_move_assignable_v<T> &&
                    !std::is_default_constructible_v<T> && std::is_nothrow_destructible_v<T>;

static_assert(immovable<afar::mutex>);
static_assert(immovable<afar::recursive_mutex>);
static_assert(immovable<afar::fair_mutex>);
static_assert(immovable<afar::shared_mutex>);
static_assert(immovable<afar::leased_semaphore>);
static_assert(immovable<afar::counting_semaphore<>>);
static_assert(immovable<afar::binary_semaphore>);
static_assert(immovable<afar::latch>);
static_assert(immovable<afar::barrier>);
static_assert(immovable<afar::counter>);
static_assert(immovable<afar::stock>);
static_assert(immovable<afar::multi_lock>);
static_assert(immovable<afar::election>);

// A fence moves: it is the protected side's own.
static_assert(std::is_nothrow_move_constructible_v<afar::fence>);
static_assert(!std::is_copy_constructible_v<afar::fence>);

// Errors are those of std.
static_assert(std::is_base_of_v<std::system_error, afar::lock_error>);
static_assert(std::is_nothrow_copy_constructible_v<std::error_code>);
static_assert(std::is_error_code_enum_v<afar::errc>);

// Leases and deadlines run on a steady clock.
static_assert(afar::boot_clock::is_steady);

}  // namespace
