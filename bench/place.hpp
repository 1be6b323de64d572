// On which cores a measurement runs. On a small virtual machine this decides more than any design:
// waking a sleeping core takes longer than most of what is measured here.
#pragma once

#include <sched.h>

#include <string>

namespace bench {

// The two cores that rows use: the last ones that this process may run on; the same one twice if
// there is only one. `first` is where rows of placement *same* run.
struct cores {
  int first = 0;
  int second = 0;
};
cores pick_cores();

void pin_to(int core);

// Pins the thread, and with it all threads that it starts, until the end of the scope.
class pinned {
 public:
  explicit pinned(int core);
  ~pinned();
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;

 private:
  cpu_set_t before_;
};

// Kernel, processor, cores, load.
std::string describe_machine();

}  // namespace bench
