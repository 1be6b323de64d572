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
    constexpr std::string_view digits = "0123456789abcdef";
    char out[64];
    char* at = out;
    for (const std::uint64_t half : {client_high, client_low})
      for (int shift = 60; shift >= 0; shift -= 4) {
        // xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx
        const auto written = at - out;
        if (written == 8 || written == 13 || written == 18 || written == 23) *at++ = '-';
        *at++ = digits[half >> shift & 0xfU];
      }
    *at++ = ':';
    return {out, std::to_chars(at, out + sizeof out, number).ptr};
  }
};

}  // namespace afar::spi
