// The worker processes of a run: starts them, kills and stops them, keeps their records.
#pragma once

#include "torture/plan.hpp"
#include "torture/points.hpp"
#include "torture/record.hpp"

#include <sys/types.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace afar::torture {

// One process, from its start to its end.
struct life {
  std::uint32_t worker = 0;
  std::uint32_t number = 0;  // how often this worker was started before
  std::vector<fact> facts;
  std::int64_t death = never;  // a stamp before the kill was sent
};

struct span_of_time {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

// A process that did not run.
struct stop_made {
  std::uint32_t worker = 0;
  std::uint32_t life = 0;
  span_of_time when;
};

class crew {
 public:
  crew(const plan&, std::uint64_t seed);  // starts all workers
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;
  ~crew();

  // A worker of which a thread does `aim` at that moment, if one can be found soon; else any. Starts
  // its successor. True: it was about that.
  bool kill_one(doing aim);
  // Stops such a worker; tick() lets it go on after `time`. False: none could be stopped.
  bool stop_one(doing aim, std::chrono::milliseconds time);
  // One that passes the fault point soon kills itself there, or stops for `time`. False: nobody came by,
  // or workers have no fault points.
  bool kill_at(const points&, const std::string& point);
  bool stop_at(const points&, const std::string& point, std::chrono::milliseconds time);
  void tick();  // lets go on who is due; replaces who ended by itself, which is a fault
  void resume_all();
  // After phase::stop. False: some did not end within that time and were killed.
  bool dismiss(std::chrono::milliseconds);

  std::uint64_t granted() const;
  std::uint64_t refused() const;
  std::uint32_t stopped_now() const;
  std::uint32_t kills() const { return kills_; }
  std::uint32_t stops_hit() const { return stops_hit_; }  // where they were aimed at
  // How those ended that ended by themselves.
  const std::vector<std::string>& fallen() const { return fallen_; }
  bool records_complete() const;
  std::vector<life> lives() const;  // after dismiss()
  const std::vector<stop_made>& stops() const { return stops_; }

 private:
  struct member {
    std::uint32_t worker = 0;
    std::uint32_t life = 0;
    pid_t pid = 0;
    std::int64_t death = never;
    std::int64_t resume_at = 0;  // 0: it runs
    std::int64_t stopped_at = 0;
    recorder record;
  };
  member start(std::uint32_t worker, std::uint32_t life) const;
  void replace(member&);
  member* find(doing aim);
  member* struck(const points&, const std::string& point, int signal, std::int64_t& at);
  void resume(member&);

  const plan& plan_;
  std::minstd_rand dice_;
  std::vector<member> present_;
  std::vector<member> past_;
  std::vector<stop_made> stops_;
  std::uint32_t kills_ = 0;
  std::uint32_t stops_hit_ = 0;
  std::vector<std::string> fallen_;
};

}  // namespace afar::torture
