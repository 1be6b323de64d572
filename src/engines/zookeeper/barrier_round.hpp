// Who stands at a barrier: what a look at its nodes shows.
#pragma once

#include "engines/zookeeper/world.hpp"

#include <afar/detail/function.hpp>
#include <afar/spi/engine.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace afar::engines::zookeeper {

struct member {
  std::string name;
  std::uint64_t created = 0;
  int version = 0;
  bool is_peer = false;  // of Curator or kazoo: it says nothing
  node_data says = {};
};

struct round {
  // Those that still wait for an outcome, in the order of their arrival. One that came for another number
  // of participants than the first of ours is not among them: it is turned away, and nobody else for it.
  std::vector<member> open;
  std::optional<member> mine;
  std::optional<std::uint64_t> ready;  // when a peer, or one of us for a peer, has created it
  std::uint64_t first = 0;             // who of all that stand there came first

  std::uint32_t limit() const;  // that the first of ours asks for; 0: there is none
  bool has_mine() const;        // mine is one of the open
  // Who passes or breaks with mine: so many of the open at a time, in their order. So nobody is among them who
  // may pass before us, and be gone, without an outcome for us.
  std::set<std::string> with_mine(std::uint32_t participants) const;
  // Those of ours whom the peer that created "ready" counted.
  std::vector<member> of_ready() const;
  // Nobody of its round stands there any more: it died before it removed it.
  bool ready_is_left_over() const { return *ready < first; }
};

std::string ready_of(const standing&);

// Writes a member's outcome, if nobody else has.
request conclude(const std::string& folder, const member&, node_data::state outcome,
                 std::uint64_t token);

// Reads the nodes that are named, as they stood at one moment. None: they changed meanwhile, look again.
void look(const world_ptr&, const standing_ptr&, const std::vector<std::string>& names,
          detail::function<void(spi::status, std::optional<round>)> then);

}  // namespace afar::engines::zookeeper
