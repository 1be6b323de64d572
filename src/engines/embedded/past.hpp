// What an earlier boot left in a folder: nobody of it is alive, so its sessions and claims are void.
// Cells and ledgers stay.
#pragma once

#include "engines/embedded/folder.hpp"

namespace afar::engines::embedded {

// Only while the folder is locked for opening. May be repeated after a crash. Throws failure; if a
// process of "the earlier boot" lives, before anything is cleared.
void clear_past(const folder&);

// Where a shard lies.
std::string shard_path(const folder&, std::size_t shard);

}  // namespace afar::engines::embedded
