#include "engines/zookeeper/node_data.hpp"

#include <fmt/format.h>

#include <charconv>

namespace afar::engines::zookeeper {
namespace {

constexpr std::string_view magic = "afar 1 ";

template <class T>
std::optional<T> number(std::string_view text, int base = 10) {
  T n{};
  const auto got = std::from_chars(text.begin(), text.end(), n, base);
  if (got.ec != std::errc{} || got.ptr != text.end()) return std::nullopt;
  return n;
}

// "<uuid>:<number>", as owner_id::text() writes it.
std::optional<spi::owner_id> owner_of(std::string_view text) {
  const auto colon = text.find(':');
  if (colon != 36) return std::nullopt;
  std::string digits;
  for (const char c : text.substr(0, colon))
    if (c != '-') digits += c;
  if (digits.size() != 32) return std::nullopt;
  const auto high = number<std::uint64_t>(std::string_view{digits}.substr(0, 16), 16);
  const auto low = number<std::uint64_t>(std::string_view{digits}.substr(16), 16);
  const auto n = number<std::uint64_t>(text.substr(colon + 1));
  if (!high || !low || !n) return std::nullopt;
  return spi::owner_id{*high, *low, *n};
}

template <class T>
void assign(std::string_view text, T& to) {
  to = number<T>(text).value_or(to);
}

void assign_field(std::string_view word, node_data& d) {
  const auto equals = word.find('=');
  const auto key = word.substr(0, equals);
  const auto value =
      equals == std::string_view::npos ? std::string_view{} : word.substr(equals + 1);
  if (key == "permits") assign(value, d.permits);
  if (key == "limit") assign(value, d.limit);
  if (key == "token") assign(value, d.token);
  if (key == "lease") d.lease = spi::milliseconds{number<std::int64_t>(value).value_or(0)};
  if (key == "done") d.is = node_data::state::done;
  if (key == "broken") d.is = node_data::state::broken;
  if (key != "kind") return;
  const auto k = number<std::uint8_t>(value).value_or(1);
  if (k >= 1 && k <= static_cast<std::uint8_t>(spi::kind::stock))
    d.kind = static_cast<spi::kind>(k);
}

}  // namespace

std::string node_data::text() const {
  char who[spi::owner_id::longest_text];
  fmt::memory_buffer out;
  const fmt::appender to{out};
  fmt::format_to(to, "{}{} kind={} permits={} limit={} lease={}", magic,
                 std::string_view{who, owner.print(who)}, static_cast<unsigned>(kind), permits,
                 limit, lease.count());
  if (token != 0) fmt::format_to(to, " token={}", token);
  if (is == state::done) fmt::format_to(to, " done");
  if (is == state::broken) fmt::format_to(to, " broken");
  fmt::format_to(to, "\n{}", note);
  return fmt::to_string(out);
}

std::optional<node_data> node_data::read(std::string_view from) {
  if (!from.starts_with(magic)) return std::nullopt;
  const auto end = from.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view line = from.substr(magic.size(), end - magic.size());
  const auto word = [&] {
    const auto blank = std::min(line.find(' '), line.size());
    const auto w = line.substr(0, blank);
    line.remove_prefix(std::min(blank + 1, line.size()));
    return w;
  };
  node_data d;
  const auto owner = owner_of(word());
  if (!owner) return std::nullopt;
  d.owner = *owner;
  while (!line.empty()) assign_field(word(), d);
  d.note = from.substr(end + 1);
  return d;
}

}  // namespace afar::engines::zookeeper
