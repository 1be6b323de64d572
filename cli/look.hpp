// What an engine knows of names: holders, waiters and their notes. The only file of the command line
// that reaches behind the public headers; the library has no public survey yet.
#pragma once

#include <afar/client.hpp>
#include <afar/spi/engine.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace afar::cli {

// What a holder or waiter says of itself; informative only, never trusted.
struct about_claimant {
  std::string host;
  std::int64_t pid = 0;
  std::string user;
  std::string command;
  std::string label;
  std::string value;  // proclaimed by a leader

  std::string place() const;  // "web-2:4711"
};
about_claimant about(const spi::claimant&);

// Entries of one name (the client's prefix is put before it), or all that begin with the prefix if
// the name is empty; names as the user gave them, without the prefix. Throws lock_error.
std::vector<spi::entry> look(const client&, std::string_view name = {});

// Breaks a hold if it still has this token. False: it is gone. Throws lock_error.
bool evict(const client&, const spi::entry&, const spi::claimant&);

}  // namespace afar::cli
