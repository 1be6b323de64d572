// One schedule: some clients whose users lock at random, over a server and a network that a seed makes easy
// or hard for them, and the promises that are checked after every event. See docs/torture.md.
#pragma once

#include "simulator/world.hpp"

#include <cstdint>
#include <string>

namespace afar::test {

// What has happened, to know that a run was not empty.
struct tally {
  std::uint64_t events = 0;
  std::uint64_t calls = 0;
  std::uint64_t blocked = 0;  // calls that blocked their threads
  std::uint64_t grants = 0;
  std::uint64_t given_up = 0;  // calls that timed out, were cancelled or failed
  std::uint64_t taken = 0;     // of semaphores
  std::uint64_t lost = 0;      // holds whose users were told so
  std::uint64_t reused = 0;    // grants without the server
  std::uint64_t pauses = 0;
  std::uint64_t crashes = 0;
  std::uint64_t cuts = 0;
  std::uint64_t closes = 0;

  tally& operator+=(const tally&) noexcept;
};

struct outcome {
  std::string failure;  // empty: every promise was kept
  std::uint64_t digest = 0;
  std::string text;  // every event, if it was to be recorded
  tally counted;
};

outcome run_schedule(std::uint64_t seed, world::record);

}  // namespace afar::test
