// Who does things to a run: kills and stops workers, troubles their connections, and whatever a test
// adds (servers that are killed, failovers). Everything is logged.
#pragma once

#include "torture/check.hpp"
#include "torture/crew.hpp"
#include "torture/fault_proxy.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace afar::torture {

// One way to hurt a run. `strike` returns when it is over; false: it did not hit.
struct fault {
  std::string name;
  unsigned weight = 1;   // how often, compared with others
  bool forgets = false;  // see incident
  std::function<bool(std::minstd_rand&)> strike;
};

// The one fault of the network that only clients of Redis get: see fault_proxy::lose_answers.
inline constexpr std::string_view garbled = "garble answers";

// kill, stop: always. The others through proxies before the servers; empty: there are none.
std::vector<fault> client_faults(crew&, std::chrono::milliseconds kept_for);
std::vector<fault> network_faults(std::vector<std::unique_ptr<fault_proxy>>&, crew&,
                                  std::chrono::milliseconds lease);
// A kill or a stop at each of these points.
std::vector<fault> faults_at(const points&, const std::vector<std::string>& names, crew&,
                             std::chrono::milliseconds kept_for);
// The names that the first two know, for messages.
std::vector<std::string> fault_names();

class nemesis {
 public:
  nemesis(std::vector<fault>, std::uint64_t seed);

  // One fault, drawn by weight; every one of them comes up early.
  void strike();
  void strike_with(std::string_view name);  // that one; nothing if there is none
  const std::vector<incident>& log() const { return log_; }
  // How often each bit; also those that never did.
  std::vector<std::pair<std::string, std::uint32_t>> bites() const;

 private:
  const fault& draw();
  void strike_with(const fault&);

  std::vector<fault> faults_;
  std::minstd_rand dice_;
  std::vector<incident> log_;
};

}  // namespace afar::torture
