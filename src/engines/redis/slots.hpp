// Which of a cluster's 16,384 slots a key is in.
#pragma once

#include <cstdint>
#include <string_view>

namespace afar::engines::redis {

inline constexpr std::size_t slot_count = 16'384;

// The part between the first '{' and the next '}', if there is something between them; else all.
constexpr std::string_view hash_tag(std::string_view key) noexcept {
  const auto open = key.find('{');
  if (open == std::string_view::npos) return key;
  const auto shut = key.find('}', open + 1);
  if (shut == std::string_view::npos || shut == open + 1) return key;
  return key.substr(open + 1, shut - open - 1);
}

// CRC-16/XMODEM, bit by bit: names are short.
constexpr std::uint16_t slot_of(std::string_view key) noexcept {
  std::uint16_t crc = 0;
  for (const char c : hash_tag(key)) {
    crc = static_cast<std::uint16_t>(crc ^ (static_cast<unsigned char>(c) << 8));
    for (int bit = 0; bit < 8; ++bit)
      crc = static_cast<std::uint16_t>((crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1);
  }
  return crc % slot_count;
}

}  // namespace afar::engines::redis
