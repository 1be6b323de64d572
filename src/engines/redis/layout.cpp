#include "engines/redis/layout.hpp"

#include <array>
#include <charconv>

namespace afar::engines::redis::layout {
namespace {

std::string tagged(std::string_view role, std::string_view name) {
  std::string key;
  key.reserve(role.size() + name.size() + 3);
  return key.append(role).append(":{").append(name).append("}");
}

// Redisson's rule for keys that it shares with us: a name that has a brace is its own hash tag.
std::string redisson(std::string_view role, std::string_view name) {
  if (name.find('{') == std::string_view::npos) return tagged(role, name);
  return std::string{role}.append(":").append(name);
}

// Likewise.
std::string redisson_suffix(std::string_view name, std::string_view suffix) {
  if (name.find('{') != std::string_view::npos) return std::string{name}.append(":").append(suffix);
  return std::string{"{"}.append(name).append("}:").append(suffix);
}

constexpr std::string_view set_apart = "afar:name";
constexpr std::string_view token_role = "redisson_lock_token";

}  // namespace

std::string name_key(std::string_view name) {
  if (name.starts_with("afar:") || name.starts_with("redisson_")) return tagged(set_apart, name);
  return std::string{name};
}

std::string queue_key(std::string_view name) { return tagged("afar:queue", name); }
std::string token_key(std::string_view name) { return redisson(token_role, name); }
std::string past_key(std::string_view name) { return tagged("afar:past", name); }
std::string cell_key(std::string_view name) { return tagged("afar:cell", name); }
std::string orders_key(std::string_view name) { return tagged("afar:orders", name); }
std::string buyers_key(std::string_view name) { return tagged("afar:buyers", name); }
std::string due_key(std::string_view name) { return tagged("afar:due", name); }

std::string line_key(std::string_view name) { return tagged("afar:line", name); }
std::string places_key(std::string_view name) { return tagged("afar:places", name); }
std::string permits_key(std::string_view name) { return tagged("afar:permits", name); }
std::string fair_line_key(std::string_view name) { return redisson("redisson_lock_queue", name); }
std::string fair_timeouts_key(std::string_view name) {
  return redisson("redisson_lock_timeout", name);
}
std::string permit_timeouts_key(std::string_view name) { return redisson_suffix(name, "timeout"); }
std::string read_lease_base(std::string_view name) { return redisson_suffix(name, ""); }
std::string read_lease_key(std::string_view name, std::string_view field) {
  return read_lease_base(name).append(field).append(":rwlock_timeout:1");
}

std::optional<std::string> name_of(const index& i, std::string_view key) {
  const std::string_view role = i.pattern.substr(0, i.pattern.find('*'));
  if (!key.starts_with(role)) return std::nullopt;
  key.remove_prefix(role.size());
  if (i.family == "claims") {
    // A name with a brace has none added.
    const bool added = key.starts_with('{') && key.ends_with('}') && key.rfind('{') == 0;
    if (!added) return std::string{key};
    key.remove_prefix(1);
  }
  if (!key.ends_with('}')) return std::nullopt;
  key.remove_suffix(1);
  return std::string{key};
}

std::string client_channel(std::string_view client) {
  return std::string{"afar:client:"}.append(client);
}

std::string cell_channel(spi::kind k, std::string_view name) {
  if (k == spi::kind::semaphore) return redisson("redisson_sc", name);
  if (k == spi::kind::latch)
    return std::string{"redisson_countdownlatch__channel__{"}.append(name) + "}";
  return tagged("afar:changed", name);
}

std::string lock_channel(std::string_view name) { return redisson("redisson_lock__channel", name); }
std::string fair_channel(std::string_view name, std::string_view owner) {
  return lock_channel(name).append(":").append(owner);
}
std::string rwlock_channel(std::string_view name) { return redisson("redisson_rwlock", name); }

std::string watchers_channel(spi::kind k, std::string_view name, bool announces) {
  return announces || k == spi::kind::election ? tagged("afar:watch", name) : std::string{};
}

spi::owner_id owner_of(std::string_view text) {
  spi::owner_id id;
  const auto colon = text.find(':');
  std::array<char, 32> hex;
  std::size_t size = 0;
  for (const char c : text.substr(0, colon)) {
    if (c == '-') continue;
    if (size == hex.size()) return {};
    hex[size++] = c;
  }
  if (size != hex.size() || colon == std::string_view::npos) return {};
  const auto read = [](std::string_view digits, std::uint64_t& n, int base) {
    return std::from_chars(digits.data(), digits.data() + digits.size(), n, base).ec == std::errc{};
  };
  const std::string_view all{hex.data(), hex.size()};
  const bool good = read(all.substr(0, 16), id.client_high, 16) &&
                    read(all.substr(16), id.client_low, 16) &&
                    read(text.substr(colon + 1), id.number, 10);
  return good ? id : spi::owner_id{};
}

}  // namespace afar::engines::redis::layout
