// What afar writes into its nodes. A contender's node: one line that says who it is, then its note.
// Peers that are not afar's ignore it, and leave their own (Curator: an address) in theirs.
//   "afar 1 <owner> kind=<n> permits=<n> limit=<n> lease=<ms>[ token=<n>][ done| broken]\n<note>"
#pragma once

#include <afar/spi/engine.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace afar::engines::zookeeper {

// Curator's word in a holder's node: somebody wants it back.
inline constexpr std::string_view revoke = "__REVOKE__";

struct node_data {
  enum class state : std::uint8_t { open, done, broken };  // of a barrier's member

  spi::owner_id owner = {};
  spi::kind kind = spi::kind::mutex;
  std::uint32_t permits = 1;
  std::uint32_t limit = 1;
  spi::milliseconds lease = {};
  std::uint64_t token = 0;  // 0: that of its creation
  node_data::state is = state::open;
  std::string note = {};

  std::string text() const;
  static std::optional<node_data> read(std::string_view);  // none: not afar's
};

}  // namespace afar::engines::zookeeper
