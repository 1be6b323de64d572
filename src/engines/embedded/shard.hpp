// One sixteenth of the names: a gate and, behind it, an LMDB environment that is opened when it is
// first needed. All but door() only inside the gate.
#pragma once

#include "engines/embedded/chores.hpp"
#include "engines/embedded/environment.hpp"
#include "engines/embedded/gate.hpp"

#include <optional>
#include <string>
#include <vector>

namespace afar::engines::embedded {

class shard {
 public:
  shard(gate_cell& cell, std::string path, bool durable);

  gate& door() noexcept { return door_; }
  environment& opened();  // throws failure

  bool chores_due(spi::time_point now) const noexcept { return now >= chores_at_; }
  // Visits a few names; returns those whose claims changed. Never fails: what could not be done is
  // done another time.
  std::vector<touched> do_chores(const records::moment&);

 private:
  gate door_;
  const std::string path_;
  const bool durable_;
  std::optional<environment> env_;
  spi::time_point chores_at_{};
  std::string chores_from_;  // the key at which the next round begins
};

}  // namespace afar::engines::embedded
