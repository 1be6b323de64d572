#include "core/visible.hpp"

#include <cstdio>

namespace afar::detail {
namespace {

// The length of the well-formed UTF-8 character that `text` starts with; 0 if there is none, or
// if it is a control character.
std::size_t printable_prefix(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool control = first == 0xc2 && second < 0xa0;  // terminals obey these too
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return control || overlong || beyond ? 0 : length;
}

}  // namespace

std::string visible(std::string_view text, std::size_t most) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = printable_prefix(text);
    std::string unit{text.substr(0, length)};
    if (length == 0) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(text[0]));
      unit = escaped;
    }
    if (out.size() + unit.size() > most) return out + "...";
    out += unit;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace afar::detail
