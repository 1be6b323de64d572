// The supervisor's side: starts the workers, kills them, stops them past their lease, starts them
// again, and collects their records.
#pragma once

#include "demo/check.hpp"
#include "demo/run.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace afar::cli::demo {

struct kill_made {
  std::int64_t at = 0;
  doing state = doing::other;  // of the victim, as its record says after its death
};

struct pause_made {
  std::uint64_t token = 0;  // of the paused holder
  bool bit = false;         // another holder has written meanwhile: the stale write must be refused
};

class team {
 public:
  team(place where, std::uint32_t workers, std::chrono::nanoseconds between_orders);
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  ~team();  // kills whoever is left

  // Kills one worker, every second time one that holds the lock, and starts it again.
  void kill_one();

  // Stops a holder at its work for longer than its lease and until another has written; wakes it up
  // and waits until it has tried to write.
  void pause_one();

  // Starts again whoever has ended by itself; there should be none. Returns how many.
  std::uint32_t replace_the_fallen();

  // Waits for all to leave after phase::stop; kills those that do not within `time`.
  void dismiss(std::chrono::milliseconds time);

  struct totals {
    std::uint64_t granted = 0;
    std::uint64_t refused = 0;
    std::uint64_t sold = 0;
  };
  totals so_far() const;
  std::vector<life> lives() const;
  bool records_complete() const;
  const std::vector<kill_made>& kills() const { return kills_; }
  const std::vector<pause_made>& pauses() const { return pauses_; }

 private:
  struct member {
    std::uint32_t worker = 0;
    std::uint32_t life = 0;
    pid_t pid = 0;
    std::int64_t death = never;
    history record;
  };

  member start(std::uint32_t worker, std::uint32_t life) const;
  void bury(member&, std::optional<member> successor);
  member* find_at_work(std::chrono::milliseconds patience);
  bool stop_at_work(member&) const;
  std::uint64_t largest_written() const;

  place where_;
  std::chrono::nanoseconds between_orders_;
  std::vector<member> present_;
  std::vector<member> past_;
  std::vector<kill_made> kills_;
  std::vector<pause_made> pauses_;
  std::minstd_rand random_;
};

}  // namespace afar::cli::demo
