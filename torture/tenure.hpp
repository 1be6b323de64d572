// The time under one lock, or under several at once: what is written meanwhile, and what is recorded.
#pragma once

#include "torture/hand.hpp"

#include <afar/boot_clock.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace afar::torture {

struct held_lock {
  std::uint16_t object = 0;
  std::uint64_t token = 0;
  std::uint32_t weight = 1;
};

class tenure {
 public:
  // until: when it ends if nothing is renewed; the epoch where nobody tells. What counts is then what valid()
  // said.
  tenure(hand&, std::vector<held_lock>, std::function<bool()> valid,
         std::function<boot_clock::time_point()> until);

  // Mostly no time, now and then longer than the lease, so that it is renewed.
  void spend();
  // The caller is about to let go.
  void end() const;

  void broke(broken_here, std::uint64_t token) const;

 private:
  void rest();
  void write_something();
  void look();

  hand& me_;
  const std::vector<held_lock> locks_;
  const std::function<bool()> valid_;
  const std::function<boot_clock::time_point()> until_;
  bool gone_ = false;
};

}  // namespace afar::torture
