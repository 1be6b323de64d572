// What a schedule is about, drawn from its seed.
#pragma once

#include "simulator/network.hpp"
#include "simulator/world.hpp"

#include <afar/spi/engine.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace afar::test {

struct plan {
  struct name {
    spi::kind kind = spi::kind::mutex;
    std::string text;
    std::uint32_t limit = 1;
  };

  explicit plan(world&);

  // Calm: nothing is lost and nobody fails, so that promises about time can be strict.
  bool calm;
  habits way;
  std::size_t clients;
  std::size_t users;  // of each client
  std::vector<name> names;
  spi::milliseconds lease;
  std::uint32_t handoff;
  spi::milliseconds sticky{0};  // of those clients that are; 0: none is
  // Of a counting_semaphore; 0: there is none. Then nobody dies: what the dead have is never put back.
  std::int64_t takeable;
  static constexpr auto semaphore = "semaphore";
  nanoseconds busy;  // for so long users begin something new, and things happen to them

 private:
  static habits draw_habits(world&, bool calm);
};

}  // namespace afar::test
