// Renews what a client holds, and tells holders in time when it cannot. One tick for all holds, one
// request for all that are due, earliest first; very many go in portions, so that a server that does one
// thing at a time has time for others.
//
// Fresh holds stand in lists by pace, so entering and leaving costs two pointers: in a list all are
// renewed after the same time, so it is all but sorted by itself. What is due moves to a small ordered
// map until its renewal is confirmed or its time is over.
#pragma once

#include "core/timers.hpp"

#include <afar/boot_clock.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace afar::detail {

class core;
class hold_state;

class watchdog {
 public:
  using time_point = boot_clock::time_point;
  using busy_map = std::multimap<time_point, hold_state*>;

  explicit watchdog(core& c) : core_(c) {}
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  void enter(hold_state&, time_point sent);
  void leave(hold_state&) noexcept;
  void confirmed(hold_state&, time_point sent);  // renewed: fresh again

  // Holds that are held now, for close, session loss and the like.
  std::vector<std::shared_ptr<hold_state>> all();

  void tick(time_point now);
  void renew_all();  // as if everything were due

 private:
  struct list {
    std::chrono::milliseconds pace{};
    bool renews = true;
    hold_state* first = nullptr;
    hold_state* last = nullptr;
    std::size_t count = 0;
    time_point rests_until{};  // others' requests get in between

    std::chrono::nanoseconds lead() const;
    time_point next_due() const;  // of a list that is not empty
  };
  void append(hold_state&, time_point sent);
  void unlink(hold_state&) noexcept;
  void take_due(list&, time_point now, std::vector<hold_state*>& into);
  void arm(time_point);  // m_ held
  time_point next_event() const;

  core& core_;
  std::mutex m_;
  std::vector<list> lists_;
  busy_map busy_;
  time_point armed_ = time_point::max();
  timers::id timer_ = 0;  // of armed_; may be over
};

}  // namespace afar::detail
