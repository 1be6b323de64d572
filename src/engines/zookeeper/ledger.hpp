// Steps on ledgers, over ledger_pages.
#pragma once

#include "engines/zookeeper/server_clock.hpp"
#include "engines/zookeeper/world.hpp"

#include <afar/spi/engine.hpp>

#include <memory>

namespace afar::engines::zookeeper {

void record(const world_ptr&, const std::shared_ptr<server_clock>&, const spi::ledger_change&,
            std::shared_ptr<pledge<spi::ledger_reply>>);

// Removes a node and everything below it, in parts; how many nodes those were.
void remove_all(const world_ptr&, const std::string& path,
                detail::function<void(spi::status, std::uint64_t)> then);

}  // namespace afar::engines::zookeeper
