// Who claims: a client (128 random bits) and a number that the client never uses twice.
#pragma once

#include <compare>
#include <cstdint>
#include <cstdio>
#include <string>

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
    char out[64];
    std::snprintf(out, sizeof out, "%08x-%04x-%04x-%04x-%012llx:%llu",
                  static_cast<unsigned>(client_high >> 32),
                  static_cast<unsigned>(client_high >> 16) & 0xffffU,
                  static_cast<unsigned>(client_high) & 0xffffU,
                  static_cast<unsigned>(client_low >> 48),
                  static_cast<unsigned long long>(client_low & 0xffffffffffffULL),
                  static_cast<unsigned long long>(number));
    return out;
  }
};

}  // namespace afar::spi
