// A shared 64-bit integer and the one step on it, as a plain function over a value (see claims.hpp).
// Results of changes are remembered per op id until the client says that it has the answer.
#pragma once

#include <afar/spi/engine.hpp>

#include <vector>

namespace afar::engines::records {

struct cell_result {
  spi::owner_id op;
  bool applied = false;
  bool exists = false;
  std::int64_t value = 0;
  std::int64_t before = 0;
  spi::time_point at{};
};

struct cell {
  spi::kind kind = spi::kind::counter;
  bool exists = false;  // false: only remembered results
  std::int64_t value = 0;
  spi::time_point changed_at{};
  std::vector<cell_result> results;  // unsettled, or younger than result_life
};

inline constexpr spi::milliseconds result_life{120'000};

// More are not kept: the oldest goes. A crowd of short-lived clients (a shell loop) settles nothing
// and would otherwise make every step on the cell slower and slower.
inline constexpr std::size_t most_results = 1'024;

// `changed`: the record must be stored; `woke`: the value changed, wake its watchers. Fails with
// errc::wrong_use if the cell is of another kind, errc::overflow if an addition leaves 64 bits.
struct cell_effects {
  bool changed = false;
  bool woke = false;
};
spi::status change(cell&, const spi::cell_change&, spi::time_point now, spi::cell_reply&,
                   cell_effects&);

// Nothing is left that anybody needs (erased, and no results younger than result_life), or a latch
// that has been at zero for a day.
bool collectable(const cell&, spi::time_point now);

}  // namespace afar::engines::records
