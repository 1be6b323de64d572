// What is checked: after every event, whenever the server grants, and whenever a call ends.
#pragma once

#include "core/core.hpp"
#include "core/hold_state.hpp"
#include "simulator/network.hpp"
#include "simulator/plan.hpp"
#include "simulator/world.hpp"

#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

namespace afar::test {

// A call that waits for something.
struct open_wish {
  std::size_t name = 0;
  world::machine machine = 0;
  boot_clock::time_point due{};    // it has to have ended, by its own clock
  std::uint64_t newest_token = 0;  // that anybody had when it began
};

// What a user has and has not begun to give back.
struct belief {
  std::size_t name = 0;
  world::machine machine = 0;
  detail::hold_ptr hold;
  std::stop_token lost;
  spi::access mode = spi::access::exclusive;
  std::uint32_t permits = 1;
  spi::owner_id owner;
};

class promises final : public grants_listener {
 public:
  promises(world&, const plan&);

  using wish = std::list<open_wish>::iterator;
  using held = std::list<belief>::iterator;

  wish asks(open_wish);
  void hurries(wish, boot_clock::time_point due);  // it was cancelled
  void ends(wish);                                 // with or without a hold
  held gets(belief, const open_wish&);
  void gives_back(held h) { held_.erase(h); }
  // Of the semaphore.
  void takes() { ++taken_; }
  void puts_back() {
    --taken_;
    ++on_the_way_;
  }
  void put_back(std::optional<bool> applied);  // none: not known
  void dies(world::machine);                   // nobody there believes or waits any more

  bool quiet() const noexcept {
    return wishes_.empty() && held_.empty() && taken_ + on_the_way_ == 0;
  }
  bool told(const belief& b) const { return b.lost.stop_requested(); }

  void after_event();             // one holder at a time
  void audit(simulated_server&);  // nobody waits for nothing; deadlines. Now and then
  void expect_nothing_left(simulated_server&);
  void things_are_well_from(world::time t) { well_from_ = t; }

 private:
  void granted(const spi::claim&, const spi::acquire_reply&) override;
  bool runs(world::machine) const;  // and has done so for long enough to notice things
  bool late(const open_wish&) const;
  bool wanted(std::size_t name) const;
  bool conflict(const belief&, const spi::claim&) const;

  world& world_;
  const plan& plan_;
  std::list<open_wish> wishes_;
  std::list<belief> held_;
  struct state {
    std::uint64_t newest_token = 0;  // that a user has had
    std::set<std::uint64_t> tokens;
    world::time busy_at{0};  // last time that it was not both free and wanted
  };
  std::vector<state> names_;
  world::time well_from_;
  std::int64_t taken_ = 0;
  std::int64_t on_the_way_ = 0;
  std::int64_t not_known_ = 0;
};

}  // namespace afar::test
