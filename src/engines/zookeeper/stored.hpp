// The data of the name's own node: cells and ledgers, and the limit of a semaphore.
//   counter             8 bytes, big-endian, as DistributedAtomicLong (4: as DistributedAtomicInteger)
//   latch, semaphore    "afar 1 latch 5", "afar 1 counting_semaphore 3"
//   stock               "afar 1 stock …", see ledger.cpp; "afar 1 erased" while its orders go
//   /leases             "limit=5"
#pragma once

#include <afar/spi/engine.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace afar::engines::zookeeper {

inline constexpr std::string_view stock_magic = "afar 1 stock ";
inline constexpr std::string_view erased_stock = "afar 1 erased";

// None: nothing that afar knows.
std::optional<spi::kind> stored_kind(std::string_view data);

struct stored_cell {
  spi::kind kind = spi::kind::counter;
  std::int64_t value = 0;
};
std::optional<stored_cell> read_cell(std::string_view data);
// Nothing: the value has no room in so few bytes.
std::optional<std::string> cell_text(spi::kind, std::int64_t value, std::uint32_t counter_width);

std::optional<std::uint32_t> stored_limit(std::string_view data);
std::string limit_text(std::uint32_t);

}  // namespace afar::engines::zookeeper
