// The files of a ZooKeeper server that is not running.
#pragma once

#include <cstdint>
#include <string>

namespace afar::test {

// Makes the newest snapshot in this data folder say that so many children were created below `path`,
// which is the number that the next sequential one gets. Throws if there is no such node in it.
void set_creations(const std::string& data_folder, const std::string& path, std::int32_t creations);

}  // namespace afar::test
