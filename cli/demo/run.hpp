// What the supervisor and its workers agree on: options, names and the files of a run.
#pragma once

#include "demo/record.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace afar::cli::demo {

struct options {
  std::uint32_t workers = 8;
  std::int64_t stock = 1'000;
  double seconds = 7;
  bool json = false;
};

inline constexpr std::chrono::milliseconds lease{300};

enum class phase : std::uint32_t { sell, rush, stop };

// Shared by all processes of a run.
struct control {
  std::atomic<demo::phase> phase{phase::sell};
};

// The folder of a run holds the control file, the fence, the protected file and all records.
struct place {
  std::string folder;
  std::string url;        // with its password: never printed, and given to workers by environment
  std::string shown_url;  // without

  std::string control() const { return folder + "/control"; }
  std::string fence() const { return folder + "/fence"; }
  std::string protected_file() const { return folder + "/protected"; }
  std::string record(std::uint32_t worker, std::uint32_t life) const {
    return folder + "/record-" + std::to_string(worker) + "-" + std::to_string(life);
  }
  // Names carry the run, so that two demos on one server do not meet.
  std::string lock_name() const { return "demo lock " + folder; }
  std::string stock_name() const { return "demo stock " + folder; }
};

inline std::string order_id(std::uint32_t worker, std::uint32_t life, std::uint32_t order) {
  return std::to_string(worker) + "." + std::to_string(life) + "." + std::to_string(order);
}

// One line of the protected file.
struct entry {
  std::uint64_t token = 0;
  std::uint32_t worker = 0;
  std::uint32_t life = 0;
};

}  // namespace afar::cli::demo
