// A server with its network: requests take their time or are lost, answers too, and notifications come late,
// twice or never. The server is the store of memory: URLs, on a clock of the world.
#pragma once

#include "engines/memory/memory_store.hpp"
#include "simulator/world.hpp"

#include <afar/spi/engine.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace afar::test {

// What an engine of this world is like; drawn once for a schedule.
struct habits {
  nanoseconds quick = 1ms;    // most messages take at most that
  nanoseconds slow = 100ms;   // a few at most that
  unsigned slow_ones = 50;    // of 1,000
  unsigned refused = 0;       // requests that certainly did not leave
  unsigned lost = 0;          // requests that never arrive
  unsigned unanswered = 0;    // requests whose answers never arrive
  unsigned unwoken = 0;       // notifications that never arrive
  unsigned woken_twice = 50;  // and some come again, later
  bool fifo = false;          // what a client sends arrives in that order
  bool relied_on = false;     // and the engine says so
  bool pushes = false;        // who is called is granted at once
  bool at_once = false;       // every step is answered before the call returns
};

// A claim with the texts that it views.
struct kept_claim {
  explicit kept_claim(const spi::claim&);
  std::string name;
  std::string note;
  spi::claim claim;
};
using claim_copy = std::shared_ptr<kept_claim>;

class server_clock final : public engines::memory::time_source {
 public:
  explicit server_clock(const world& w) : world_(w) {}
  spi::time_point now() const noexcept override { return spi::time_point{1'000s + world_.now()}; }
  std::chrono::microseconds calendar() const noexcept override;
  // The wall clock is set to another time; leases are not counted by it.
  void step(std::chrono::seconds by) { steps_ += by; }

 private:
  const world& world_;
  std::chrono::seconds steps_{0};
};

// Told what the server grants, as it does.
class grants_listener {
 public:
  virtual void granted(const spi::claim&, const spi::acquire_reply&) = 0;

 protected:
  ~grants_listener() = default;
};

class channel;

class simulated_server {
 public:
  simulated_server(world&, const habits&, grants_listener&);

  spi::status acquire(const claim_copy&, channel&, spi::acquire_reply&);
  spi::renew_reply renew(const spi::claim&);
  spi::release_reply release(const spi::claim&);
  spi::status change(const spi::cell_change&, spi::cell_reply&);
  bool watch(const std::string& key, channel&);
  void unwatch(const std::string& key, channel&);
  void forget(channel&);
  bool push(const std::string& key);  // grants what waits there, and tells; false: nothing does

  spi::survey_reply survey(const std::string& name) { return store_.survey({.name = name}); }
  server_clock& clock() { return *clock_; }

 private:
  struct queued {
    claim_copy claim;
    std::weak_ptr<channel> of;
  };
  world& world_;
  const habits& habits_;
  grants_listener& listener_;
  std::shared_ptr<server_clock> clock_;
  engines::memory::memory_store store_;
  bool ask_for(const std::string& name, const spi::owner_id& by);

  // Holds that stay with their clients, by name.
  struct lingering {
    spi::owner_id owner;
    std::weak_ptr<channel> of;
  };
  std::unordered_map<std::string, lingering> lingering_;
  // What a pushing server must remember.
  std::unordered_map<std::string, queued> line_;           // by key
  std::unordered_map<std::string, std::uint64_t> newest_;  // token of a name: refusals tell it
};

// Something asked that was not answered yet.
struct open_call {
  virtual ~open_call() = default;
  virtual void fail(spi::status) = 0;
  world::id given_up = 0;  // the event that ends its time
};

// The way between one client and the server. It outlives the client's engine as long as messages are
// under way.
class channel final : public spi::host, public std::enable_shared_from_this<channel> {
 public:
  channel(world&, const habits&, simulated_server&, spi::host&);

  // A message, there or back; lost: of 1,000.
  void to_server(unsigned lost, detail::function<void()>);
  void to_client(unsigned lost, detail::function<void()>);

  void cut(nanoseconds d) { cut_until_ = world_.now() + d; }  // nothing passes
  void end();                                                 // the process or the engine ends
  bool open() const noexcept { return open_; }
  void tell(void (*what)(spi::host&));  // the engine says something to the core
  void client_granted(const spi::owner_id&, const spi::acquire_reply&);
  void client_asked(const spi::owner_id&);  // for what stays with it

  world& where() noexcept { return world_; }
  world::machine machine() const noexcept { return machine_; }
  const habits& way() const noexcept { return habits_; }
  simulated_server& server() noexcept { return server_; }
  spi::host& client() noexcept { return client_; }

  std::map<std::uint64_t, std::shared_ptr<open_call>>
      calls;  // in the order in which they were asked
  std::uint64_t next_call = 1;
  std::shared_ptr<engines::memory::listener> ear;

 private:
  nanoseconds delay();
  void wake(std::string_view key) noexcept override;
  void tell_client(const std::string& key);
  void wake_all() noexcept override {}
  void granted(const spi::owner_id&, std::uint64_t, std::uint64_t,
               spi::milliseconds) noexcept override {}
  void asked(const spi::owner_id&) noexcept override {}
  void session_lost() noexcept override {}

  world& world_;
  const habits& habits_;
  simulated_server& server_;
  spi::host& client_;
  const world::machine machine_;
  world::time last_sent_{0};
  world::time cut_until_{0};
  bool open_ = true;
};

}  // namespace afar::test
