#include "engines/wrap/faults.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

namespace afar::engines::wrap {
namespace {

constexpr std::array<std::string_view, 8> names{"delay", "delayed", "drop", "duplicate",
                                                "lose",  "refuse",  "seed", "spurious"};

[[noreturn]] void reject(const std::string& key, const std::string& text, std::string_view want) {
  throw std::invalid_argument{"option " + key + "=" + text + ": " + std::string{want}};
}

// Reads a number and returns what follows it.
template <class Number>
std::string_view read(const std::string& key, const std::string& text, Number& out,
                      std::string_view want) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, out);
  if (error != std::errc{}) reject(key, text, want);
  return {rest, static_cast<std::size_t>(end - rest)};
}

double chance(const std::string& key, const std::string& text) {
  constexpr std::string_view want = "a chance is a number between 0 and 1";
  double out = 0;
  if (!read(key, text, out, want).empty() || !(out >= 0 && out <= 1)) reject(key, text, want);
  return out;
}

std::chrono::microseconds duration(const std::string& key, const std::string& text) {
  constexpr std::string_view want = "a duration is a number with us, ms or s, at most 60s";
  std::uint32_t count = 0;
  const std::string_view unit = read(key, text, count, want);
  std::chrono::microseconds out{};
  if (unit == "us")
    out = std::chrono::microseconds{count};
  else if (unit == "ms")
    out = std::chrono::milliseconds{count};
  else if (unit == "s")
    out = std::chrono::seconds{count};
  else
    reject(key, text, want);
  if (out > std::chrono::seconds{60}) reject(key, text, want);
  return out;
}

std::uint64_t number(const std::string& key, const std::string& text) {
  constexpr std::string_view want = "a whole number is wanted";
  std::uint64_t out = 0;
  if (!read(key, text, out, want).empty()) reject(key, text, want);
  return out;
}

}  // namespace

std::span<const std::string_view> fault_options() noexcept { return names; }

faults read_faults(const std::map<std::string, std::string>& options) {
  faults f;
  for (const auto& [key, text] : options) {
    if (key == "drop") f.drop = chance(key, text);
    if (key == "refuse") f.refuse = chance(key, text);
    if (key == "duplicate") f.duplicate = chance(key, text);
    if (key == "delayed") f.delayed = chance(key, text);
    if (key == "spurious") f.spurious = chance(key, text);
    if (key == "lose") f.lose = chance(key, text);
    if (key == "delay") f.delay = duration(key, text);
    if (key == "seed") f.seed = number(key, text);
  }
  return f;
}

}  // namespace afar::engines::wrap
