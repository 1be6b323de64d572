#include "engines/sql/told_grant.hpp"

#include "engines/sql/row.hpp"

#include <charconv>
#include <cstdint>

namespace afar::engines::sql {

std::string text_of(const records::direct_grant& g) {
  return g.owner.text() + ' ' + std::to_string(g.token) + ' ' + std::to_string(g.lease.count()) +
         ' ' + std::to_string(g.last_token - g.token);
}

std::optional<records::direct_grant> grant_of(std::string_view text) noexcept {
  const std::string_view owner = text.substr(0, text.find(' '));
  std::uint64_t numbers[3] = {};
  const char* at = owner.data() + owner.size();
  const char* const end = text.data() + text.size();
  for (std::uint64_t& n : numbers) {
    if (at >= end) return std::nullopt;
    const auto [behind, failed] = std::from_chars(at + 1, end, n);
    if (failed != std::errc{}) return std::nullopt;
    at = behind;
  }
  const auto [token, ms, more] = numbers;
  if (token == 0) return std::nullopt;
  records::direct_grant g;
  g.owner = owner_of(owner);
  g.token = token;
  g.last_token = token + more;
  g.lease = spi::milliseconds{static_cast<std::int64_t>(ms)};
  return g;
}

}  // namespace afar::engines::sql
