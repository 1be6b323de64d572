// Other libraries in programs of their own, which all speak the protocol of peers/README.md.
#pragma once

#include "clock.hpp"
#include "crew.hpp"
#include "series.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace bench {

inline constexpr std::chrono::milliseconds peer_lease{30'000};

struct peer_entry {
  std::string engine;
  std::string name;
  std::vector<std::string> command = {};
  std::string skipped = {};  // why; empty: it can be started
};

// A list that peers/get has written; throws std::runtime_error if it makes no sense.
std::vector<peer_entry> parse_peers(const std::string& text);
// Those of an engine; none if script/bench did not fetch any.
std::vector<peer_entry> peers_of(const std::string& engine);
// afar in the same role; `how`: see peer_child.
peer_entry afar_as_peer(const std::string& name, const std::string& how);

struct pairs_answer {
  double pairs = 0;
  double seconds = 0;
  double p50 = 0;  // microseconds
  double p99 = 0;
  std::string version = {};
};
pairs_answer parse_answer(const std::string& line);  // throws std::runtime_error

// One of them at work, on the core that it was started on.
class peer_program {
 public:
  peer_program(peer_entry, std::string url, std::size_t workers, std::size_t names);

  pairs_answer measure(nanoseconds);
  double run(nanoseconds);   // pairs per second
  void warm(nanoseconds t);  // until it does not get faster any more

  pid_t pid() const noexcept { return program_.pid(); }
  std::string title() const;                           // name and version
  const series& p50() const noexcept { return p50_; }  // of the runs
  const series& p99() const noexcept { return p99_; }

 private:
  const std::string name_;
  const std::string url_;
  const std::size_t workers_;
  const std::size_t names_;
  member program_;
  std::string version_;
  series p50_;
  series p99_;
};

}  // namespace bench
