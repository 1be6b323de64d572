#include "place.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

namespace bench {

namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::string processor() {
  std::ifstream in{"/proc/cpuinfo"};
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

}  // namespace

cores pick_cores() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) fail("sched_getaffinity");
  cores c{-1, -1};
  for (int i = CPU_SETSIZE - 1; i >= 0; --i) {
    if (!CPU_ISSET(static_cast<unsigned>(i), &allowed)) continue;
    (c.first < 0 ? c.first : c.second) = i;
    if (c.second >= 0) return c;
  }
  c.second = c.first;
  return c;
}

void pin_to(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(core), &one);
  if (::sched_setaffinity(0, sizeof one, &one) != 0) fail("sched_setaffinity");
}

pinned::pinned(int core) {
  if (::sched_getaffinity(0, sizeof before_, &before_) != 0) fail("sched_getaffinity");
  pin_to(core);
}

pinned::~pinned() { ::sched_setaffinity(0, sizeof before_, &before_); }

std::string describe_machine() {
  utsname u{};
  ::uname(&u);
  double load = 0;
  ::getloadavg(&load, 1);
  const cores c = pick_cores();
  return fmt::format(
      "{} {}; {}; same = all on core {}, split = cores {} and {}; load before the run {:.1f}",
      u.sysname, u.release, processor(), c.first, c.first, c.second, load);
}

}  // namespace bench
