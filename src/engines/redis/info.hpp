// The text of INFO: lines "field:value".
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace afar::engines::redis {

// Empty: not there.
inline std::string info_field(std::string_view text, std::string_view field) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find("\r\n", at) - at);
    if (line.starts_with(field) && line.substr(field.size()).starts_with(':'))
      return std::string{line.substr(field.size() + 1)};
    at += line.size() + 2;
  }
  return {};
}

inline std::optional<std::int64_t> info_number(std::string_view text, std::string_view field) {
  const std::string value = info_field(text, field);
  std::int64_t n = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), n);
  return read.ec == std::errc{} ? std::optional{n} : std::nullopt;
}

}  // namespace afar::engines::redis
