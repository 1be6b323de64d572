// The names of keys and channels, byte by byte as docs/engines/redis.md lists them. Nothing else in
// C++ builds them.
#pragma once

#include <afar/spi/engine.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace afar::engines::redis::layout {

// The key of a name is the name itself, so that other libraries find it; only names that could be
// taken for a key of our own are set apart.
std::string name_key(std::string_view name);

std::string queue_key(std::string_view name);
std::string token_key(std::string_view name);
std::string past_key(std::string_view name);
std::string cell_key(std::string_view name);
std::string orders_key(std::string_view name);
std::string buyers_key(std::string_view name);
std::string due_key(std::string_view name);

// Only in Redisson's layout. The line of RFairLock is Redisson's; afar's waiters for other kinds have
// one of their own, which Java does not know.
std::string line_key(std::string_view name);
std::string places_key(std::string_view name);
std::string permits_key(std::string_view name);
std::string fair_line_key(std::string_view name);
std::string fair_timeouts_key(std::string_view name);
std::string permit_timeouts_key(std::string_view name);
// The lease of one reader; `field` is "<owner>" or "<owner>:write". All begin with the base.
std::string read_lease_base(std::string_view name);
std::string read_lease_key(std::string_view name, std::string_view field);

// Of a family of names, the keys by which all are found (SCAN), and back.
struct index {
  std::string_view family;   // as survey.lua calls it
  std::string_view pattern;  // for SCAN
};
inline constexpr index indexes[] = {
    {"claims", "redisson_lock_token:*"}, {"cells", "afar:cell:{*"}, {"stocks", "afar:orders:{*"}};
std::optional<std::string> name_of(const index&, std::string_view key);

// "<uuid>:<number>"; a zero owner for the lock of another library.
spi::owner_id owner_of(std::string_view text);

// Where a client hears of its grants, a cell's waiters of changes, and observers of holders.
std::string client_channel(std::string_view client);
std::string cell_channel(spi::kind, std::string_view name);
std::string lock_channel(std::string_view name);
std::string fair_channel(std::string_view name, std::string_view owner);
std::string rwlock_channel(std::string_view name);
// Empty: nobody is told. `announces`: everybody is, of whatever kind the name is (a quorum has no line
// in which grants are told).
std::string watchers_channel(spi::kind, std::string_view name, bool announces = false);

}  // namespace afar::engines::redis::layout
