// Little-endian integers in byte strings, and a reader that never leaves its string: once something
// does not fit it stays failed and answers with zeros, so that callers check once, at the end.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace afar::engines {

template <std::integral T>
T load(const void* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::endian::native == std::endian::big) {
    T turned = 0;
    for (std::size_t i = 0; i < sizeof value; ++i)
      turned = static_cast<T>(
          turned | (static_cast<T>(static_cast<const unsigned char*>(from)[i]) << (8 * i)));
    return turned;
  }
  return value;
}

template <std::integral T>
void store(void* to, T value) noexcept {
  if constexpr (std::endian::native == std::endian::big) {
    for (std::size_t i = 0; i < sizeof value; ++i)
      static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(value >> (8 * i));
  } else {
    std::memcpy(to, &value, sizeof value);
  }
}

class byte_reader {
 public:
  explicit byte_reader(std::span<const std::byte> from) noexcept : from_(from) {}

  template <std::integral T>
  T number() noexcept {
    const std::byte* p = take(sizeof(T));
    return p ? load<T>(p) : T{};
  }
  std::string_view text(std::size_t size) noexcept {
    const std::byte* p = take(size);
    return p ? std::string_view{reinterpret_cast<const char*>(p), size} : std::string_view{};
  }
  void skip(std::size_t size) noexcept { take(size); }
  void fail() noexcept { failed_ = true; }

  // Whether `count` items of at least `each` bytes can still follow: checked before reserving room.
  bool can_hold(std::size_t count, std::size_t each) noexcept {
    if (failed_ || count > from_.size() / each) failed_ = true;
    return !failed_;
  }
  bool failed() const noexcept { return failed_; }

 private:
  const std::byte* take(std::size_t size) noexcept {
    if (failed_ || size > from_.size()) {
      failed_ = true;
      return nullptr;
    }
    const std::byte* p = from_.data();
    from_ = from_.subspan(size);
    return p;
  }

  std::span<const std::byte> from_;
  bool failed_ = false;
};

// Writes into memory whose size the caller has computed before.
class byte_writer {
 public:
  explicit byte_writer(std::byte* to) noexcept : to_(to) {}

  template <std::integral T>
  void number(T value) noexcept {
    store(to_, value);
    to_ += sizeof value;
  }
  void text(std::string_view s) noexcept {
    if (s.empty()) return;  // an empty view may point nowhere, and memcpy may not be told so
    std::memcpy(to_, s.data(), s.size());
    to_ += s.size();
  }
  void zeros(std::size_t size) noexcept {
    std::memset(to_, 0, size);
    to_ += size;
  }
  std::byte* at() const noexcept { return to_; }

 private:
  std::byte* to_;
};

}  // namespace afar::engines
