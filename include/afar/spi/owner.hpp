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

  // "<uuid>:<number>", the form in which owners are stored as text and shown to people.
  std::string text() const {
    static constexpr std::string_view digits = "0123456789abcdef";
    char out[64];
    char* at = out;
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
    return {out, std::to_chars(at, out + sizeof out, number).ptr};
  }
};

}  // namespace afar::spi
