// Who claims: a client (128 random bits) and a number that the client never uses twice.
#pragma once

#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace afar::spi {

struct owner_id {
  std::uint64_t client_high = 0;
  std::uint64_t client_low = 0;
  std::uint64_t number = 0;

  friend auto operator<=>(const owner_id&, const owner_id&) = default;

  bool same_client(const owner_id& other) const noexcept {
    return client_high == other.client_high && client_low == other.client_low;
  }

  static constexpr std::size_t longest_text = 36 + 1 + 20;

  // "<uuid>:<number>", the form in which owners are stored as text and shown to people.
  std::string text() const {
    char out[longest_text];
    return {out, print(out)};
  }

  // Likewise, into `longest_text` bytes; returns the end.
  char* print(char* at) const noexcept {
    static constexpr std::string_view digits = "0123456789abcdef";
    // xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx
    const auto write = [&at](std::uint64_t half, int from, int to) {
      for (int shift = from; shift > to; shift -= 4) *at++ = digits[half >> (shift - 4) & 0xfU];
    };
    write(client_high, 64, 32);
    *at++ = '-';
    write(client_high, 32, 16);
    *at++ = '-';
    write(client_high, 16, 0);
    *at++ = '-';
    write(client_low, 64, 48);
    *at++ = '-';
    write(client_low, 48, 0);
    *at++ = ':';
    return std::to_chars(at, at + 20, number).ptr;
  }
};

}  // namespace afar::spi
