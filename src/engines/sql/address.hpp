// What a mysql: or postgresql: URL says.
//   mysql://[user[:password]@]host[:port][,host…]/database     mysqls:// the same over TLS
//   postgresql://…                                             postgresqls://
#pragma once

#include <afar/spi/url.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace afar::engines::sql {

enum class product : std::uint8_t { mysql, postgres };

struct target {
  sql::product product = product::mysql;
  std::vector<spi::url::host> servers =
      {};  // tried in their order: the first that can be written to
  std::string user = {};
  spi::secret password = {};
  std::string database = {};
  bool tls = false;  // verified, and for the host of the URL
  std::string ca = {}, cert = {}, key = {};
  std::uint32_t connections = 4;  // at most, for steps; renewals and bells have one each besides
  bool bells = true;              // ?bell=off: waiters poll
  bool accepts_galera = false;    // ?galera=accept
  std::string printable = {};
};

// Throws std::invalid_argument, which the registry turns into errc::bad_url.
target target_of(const spi::url&);

}  // namespace afar::engines::sql
