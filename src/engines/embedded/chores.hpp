// What steps do in passing, so that nothing piles up when its users are gone: a few records per
// shard and 100 ms are looked at. Claims of dead processes are freed, idle records collected, and
// the orders of erased ledgers removed bit by bit.
#pragma once

#include "engines/embedded/environment.hpp"
#include "engines/records/claims.hpp"

#include <string>
#include <vector>

namespace afar::engines::embedded {

// A name whose claims changed, and whom to wake.
struct touched {
  std::string name;
  records::effects effects;
};

struct tidied {
  std::vector<touched> found;
  std::size_t removed = 0;  // records
};

// One round inside the gate, from a key on (empty: the beginning). Returns where the next begins.
std::string tidy(environment&, const std::string& from, const records::moment&, tidied&);

}  // namespace afar::engines::embedded
