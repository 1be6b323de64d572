// Clients of the simulated server, and the users that lock through them.
#pragma once

#include "core/core.hpp"
#include "simulator/network.hpp"
#include "simulator/plan.hpp"
#include "simulator/promises.hpp"
#include "simulator/schedule.hpp"
#include "simulator/taker.hpp"
#include "simulator/world.hpp"

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace afar::test {

// What all of them share.
struct scene {
  world& where;
  const plan& what;
  promises& kept;
  simulated_server& server;
  tally& counted;
  bool ending = false;  // nobody begins anything new
};

class client;

// One thread of a program, or one of its coroutines: asks, holds, gives back, again and again.
class user {
 public:
  user(scene& s, client& c) : scene_(s), client_(c) {}

  void live();    // plans the next wish
  void let_go();  // gives back what it has

 private:
  void ask();
  detail::claim_request make_request(open_wish&);
  void choose_deadline(detail::claim_request&, open_wish&);
  void plan_to_cancel();
  void wait_for_it(detail::claim_request);
  void answered(const spi::status&, detail::hold_ptr);
  void begin_to_hold();
  nanoseconds time_to_hold();
  bool in_burst() const noexcept { return burst_ > 0; }

  scene& scene_;
  client& client_;
  spi::access mode_ = spi::access::exclusive;  // of the last request
  std::uint32_t permits_ = 1;
  std::uint64_t burst_ =
      0;  // so often it locks the first name again, soon and for a moment (sticky)
  std::stop_source stop_;
  world::id cancel_ = 0;
  bool cancelled_ = false;
  std::optional<promises::wish> wish_;
  std::optional<promises::held> held_;
};

// One process, from its start to its end.
class client {
 public:
  explicit client(scene&);

  void crash();  // from outside
  void close();  // by a thread of its own, which waits
  bool over() const noexcept { return over_; }
  bool has_core() const noexcept { return core_ != nullptr; }
  bool leaks() const noexcept { return over_ && !weak_.expired(); }

  world::machine machine() const noexcept { return machine_; }
  channel& way() noexcept { return *way_; }
  detail::core& core() noexcept { return *core_; }

 private:
  void open();
  void drop();

  scene& scene_;
  const world::machine machine_;
  std::shared_ptr<channel> way_;
  std::shared_ptr<detail::core> core_;
  std::weak_ptr<detail::core> weak_;
  std::vector<std::unique_ptr<user>> users_;
  std::unique_ptr<taker> taker_;
  bool over_ = false;
};

}  // namespace afar::test
