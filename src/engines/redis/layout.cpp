#include "engines/redis/layout.hpp"

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

std::string watchers_channel(spi::kind k, std::string_view name, bool announces) {
  return announces || k == spi::kind::election ? tagged("afar:watch", name) : std::string{};
}

}  // namespace afar::engines::redis::layout
