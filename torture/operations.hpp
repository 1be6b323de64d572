// What was asked of a value, a latch, a barrier or a semaphore, and what came of it: the facts of a request
// and of its answer as one.
#pragma once

#include "torture/check.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace afar::torture {

struct operation {
  enum class kind : std::uint8_t { change, read, wait };
  enum class end : std::uint8_t {
    done,      // changed, seen, passed
    gave_up,   // a wait; code says why
    doubtful,  // a change that may have happened
    died       // with its process, before the answer
  };
  kind is{};
  end ended = end::died;
  std::uint64_t round = 0;
  std::int64_t from = 0;
  std::int64_t to = never;     // the answer, or the death
  std::int64_t until = never;  // of a wait: its deadline
  std::int64_t value = 0;      // as the answer says
  std::uint32_t weight = 0;
  std::uint32_t worker = 0;
  std::uint32_t life = 0;
  bool killed = false;  // its process, at that time or later
};

// Of one object, by round, each sorted by `from`.
std::map<std::uint64_t, std::vector<operation>> operations(const evidence&, std::uint16_t object);

}  // namespace afar::torture
