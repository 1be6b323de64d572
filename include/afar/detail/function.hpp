// A move-only callable with room for small targets, because std::move_only_function is C++23 and
// std::function copies. Calling an empty one is undefined; calling does not consume it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace afar::detail {

template <class Signature>
class function;

template <class R, class... Args>
class function<R(Args...)> {
  static constexpr std::size_t room = 64;  // fits the core's own completions without allocation

 public:
  function() noexcept = default;
  function(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)

  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, function> &&
             std::is_invocable_r_v<R, std::remove_cvref_t<F>&, Args...>)
  function(F&& f) {  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
    using target = std::remove_cvref_t<F>;
    if constexpr (sizeof(target) <= room && alignof(target) <= alignof(std::max_align_t) &&
                  std::is_nothrow_move_constructible_v<target>) {
      ::new (static_cast<void*>(store_)) target(std::forward<F>(f));
      table_ = &small<target>;
    } else {
      ::new (static_cast<void*>(store_)) target*(new target(std::forward<F>(f)));
      table_ = &large<target>;
    }
  }

  function(function&& other) noexcept { take(other); }
  function& operator=(function&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  function(const function&) = delete;
  function& operator=(const function&) = delete;
  ~function() { reset(); }

  explicit operator bool() const noexcept { return table_ != nullptr; }
  R operator()(Args... args) { return table_->call(store_, std::forward<Args>(args)...); }

 private:
  struct operations {
    R (*call)(void*, Args&&...);
    void (*move)(void* to, void* from) noexcept;
    void (*destroy)(void*) noexcept;
  };
  template <class T>
  static constexpr operations small{
      [](void* p, Args&&... args) -> R {
        return (*std::launder(reinterpret_cast<T*>(p)))(std::forward<Args>(args)...);
      },
      [](void* to, void* from) noexcept {
        T* source = std::launder(reinterpret_cast<T*>(from));
        ::new (to) T(std::move(*source));
        source->~T();
      },
      [](void* p) noexcept { std::launder(reinterpret_cast<T*>(p))->~T(); }};
  template <class T>
  static constexpr operations large{
      [](void* p, Args&&... args) -> R {
        return (**std::launder(reinterpret_cast<T**>(p)))(std::forward<Args>(args)...);
      },
      [](void* to, void* from) noexcept {
        ::new (to) T*(*std::launder(reinterpret_cast<T**>(from)));
      },
      [](void* p) noexcept { delete *std::launder(reinterpret_cast<T**>(p)); }};

  void take(function& other) noexcept {
    if (!other.table_) return;
    other.table_->move(store_, other.store_);
    table_ = std::exchange(other.table_, nullptr);
  }
  void reset() noexcept {
    if (table_) std::exchange(table_, nullptr)->destroy(store_);
  }

  alignas(std::max_align_t) std::byte store_[room];
  const operations* table_ = nullptr;
};

}  // namespace afar::detail
