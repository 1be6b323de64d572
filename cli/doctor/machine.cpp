#include "doctor/probe.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/timex.h>

#include <fstream>
#include <map>

namespace afar::cli::doctor {
namespace {

using grade = finding::grade;

constexpr rlim_t few_descriptors = 256;

finding descriptors() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < few_descriptors)
    return {grade::warning, "files", fmt::format("at most {} open files", limit.rlim_cur),
            "ulimit -n 1024"};
  return {grade::ok, "files", fmt::format("up to {} open files", limit.rlim_cur), {}};
}

// A throttled process cannot renew. There is no such file without a cgroup of version 2.
finding throttling() {
  std::ifstream file{"/sys/fs/cgroup/cpu.stat"};
  std::map<std::string, std::uint64_t> values;
  std::string key;
  for (std::uint64_t value = 0; file >> key >> value;) values[key] = value;
  const auto periods = values["nr_periods"];
  const auto throttled = values["nr_throttled"];
  if (periods == 0) return {grade::ok, "cpu", "not limited", {}};
  const auto text = fmt::format("throttled in {} of {} periods", throttled, periods);
  if (throttled > periods / 10)
    return {grade::warning, "cpu", text, "give it more CPU, or use leases of many seconds"};
  return {grade::ok, "cpu", text, {}};
}

finding calendar() {
  timex state{};
  const bool synchronised = ::adjtimex(&state) >= 0 && (state.status & STA_UNSYNC) == 0;
  return {
      grade::ok,
      "calendar",
      std::string{synchronised ? "synchronised" : "not synchronised as far as the kernel knows"} +
          "; leases do not depend on it",
      {}};
}

}  // namespace

std::vector<finding> examine_machine() { return {descriptors(), throttling(), calendar()}; }

}  // namespace afar::cli::doctor
