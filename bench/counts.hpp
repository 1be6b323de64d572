// What a pair costs besides time, as rows: heap allocations and system calls.
#pragma once

#include "report.hpp"
#include "tally.hpp"

#include <functional>
#include <string>

namespace bench {

// One thread and a lock that nobody else wants.
struct counted_work {
  std::string id;      // of the rows of that engine
  std::string engine;  // and how it is used
  std::string url;
  std::string how;  // see peer_child: what strace runs where the kernel lets nobody count
  std::function<void()> pair;
};
// `calls`: made before the client's threads started.
void tell_counts(const counted_work&, const syscall_counter& calls, report&);

}  // namespace bench
