// Looking at what is in use, breaking a hold, and clearing away.
#pragma once

#include "engines/zookeeper/world.hpp"

#include <afar/spi/engine.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace afar::engines::zookeeper {

void survey(const world_ptr&, const spi::survey_query&, std::shared_ptr<pledge<spi::survey_reply>>);

// One name, or nothing if nobody uses it.
struct seen_name {
  spi::entry entry;
  std::vector<std::pair<spi::claimant, std::string>>
      nodes;  // of the holders; a permit has one each
};
void look_at(const world_ptr&, const std::string& path, std::string name,
             detail::function<void(spi::status, std::optional<seen_name>)> then);

void evict(const world_ptr&, const spi::resource&, const spi::owner_id&, std::uint64_t token,
           std::shared_ptr<pledge<spi::release_reply>>);

// Writes Curator's word into the holder's node. Not into a permit's or a barrier member's: nobody looks
// for it there.
void ask_back(const world_ptr&, std::string_view node, std::shared_ptr<pledge<bool>>);

// Empty folders, erased stocks, tickets of clients that are gone.
void collect(const world_ptr&, std::shared_ptr<pledge<std::uint64_t>>);

}  // namespace afar::engines::zookeeper
