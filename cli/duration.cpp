#include "duration.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace afar::cli {
namespace {

struct unit {
  std::string_view name;
  double ms;
};
// From large to small: in "1h30m" each unit is smaller than the one before.
constexpr std::array<unit, 5> units{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr double longest =
    100 * 365 * 86'400'000.0;  // a century; as nanoseconds it is far from any overflow

std::string_view leading_letters(std::string_view text) noexcept {
  std::size_t n = 0;
  while (n < text.size() && text[n] >= 'a' && text[n] <= 'z') ++n;
  return text.substr(0, n);
}

}  // namespace

std::optional<milliseconds> parse_duration(std::string_view text) noexcept {
  if (text.empty()) return {};
  double total = 0;
  std::size_t allowed = 0;  // index of the largest unit that may still come
  for (bool first = true; !text.empty(); first = false) {
    double count = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), count, std::chars_format::fixed);
    if (error != std::errc{} || !(count >= 0)) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const auto name = leading_letters(text);
    text.remove_prefix(name.size());
    std::size_t at = allowed;
    if (name.empty()) {
      if (!first || !text.empty()) return {};
      at = 3;
    } else {
      while (at < units.size() && units[at].name != name) ++at;
      if (at == units.size()) return {};
    }
    total += count * units[at].ms;
    if (!(total <= longest)) return {};
    allowed = at + 1;
  }
  return milliseconds{std::llround(std::ceil(total))};
}

std::string show(milliseconds d) {
  const auto ms = d.count() < 0 ? 0 : d.count();
  const auto s = ms / 1'000;
  if (ms < 10'000) return fmt::format("{}.{}s", s, ms % 1'000 / 100);
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3'600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  if (s < 86'400) return fmt::format("{}h{:02}m", s / 3'600, s / 60 % 60);
  return fmt::format("{}d{:02}h", s / 86'400, s / 3'600 % 24);
}

}  // namespace afar::cli
