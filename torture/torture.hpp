// A torture run: workers, faults, a record, a verdict.
#pragma once

#include "torture/check.hpp"
#include "torture/nemesis.hpp"
#include "torture/plan.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace afar::torture {

struct settings {
  std::string program = "/proc/self/exe";  // that knows the verb torture-worker
  std::vector<std::string> launcher = {};  // what starts the program, as {"nsenter", …}; else we do
  std::string url;                         // with its password: never printed
  std::string workers_url = {};            // if workers must take another way to it
  std::chrono::milliseconds time{60'000};
  std::optional<std::uint64_t> seed = {};
  std::uint32_t workers = 6;
  std::uint32_t threads = 4;
  std::chrono::milliseconds lease{500};
  bool kill = true;
  bool stop = true;
  bool network = true;                   // where the engine is reached by TCP without TLS
  std::vector<std::string> points = {};  // fault points to aim at; the program must have them
  bool evicts = false;                   // workers break locks of theirs (afar::evict), too
  std::vector<fault> more = {};          // of the caller
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(const std::string&)> say = [](const std::string&) {};  // progress
};

enum class outcome : std::uint8_t { kept, broken, proves_nothing };

struct verdict {
  std::uint64_t seed = 0;
  std::string url;  // as it may be printed
  double seconds = 0;
  std::uint64_t grants = 0;
  std::uint64_t changes = 0;
  std::uint64_t refused_writes = 0;
  std::uint64_t writes = 0;
  std::uint32_t kills = 0;
  std::uint32_t stops = 0;
  int lost_answers = 0;
  std::vector<std::pair<std::string, std::uint64_t>> uses;  // of each primitive, with success
  torture::searched searched;
  std::vector<std::pair<std::string, std::uint32_t>> bites;
  std::vector<std::string> left_out;  // what this engine does not have, and why
  findings violations;
  findings outside;                  // what the guarantees do not cover; counted, not hidden
  std::vector<std::string> invalid;  // why the run proves nothing; empty: it counts
  evidence seen;                     // for the picture

  // A broken promise is one also in a run that proves nothing else.
  outcome is() const {
    if (!violations.empty()) return outcome::broken;
    return invalid.empty() ? outcome::kept : outcome::proves_nothing;
  }
  bool green() const { return is() == outcome::kept; }
};

// Throws lock_error if the engine cannot be reached at the beginning.
verdict run(const settings&);

}  // namespace afar::torture
