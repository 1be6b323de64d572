// How long a thread, usually the one that made this, was ready to run and did not, since it began: the machine was busy
// with others. The kernel counts it (sched_info); where it does not, it is 0, which excuses nobody.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace afar::torture {

class run_delay {
 public:
  run_delay() : run_delay(std::string{"/proc/thread-self/schedstat"}) {}
  explicit run_delay(pid_t thread)  // of this process
      : run_delay("/proc/self/task/" + std::to_string(thread) + "/schedstat") {}
  run_delay(const run_delay&) = delete;
  run_delay& operator=(const run_delay&) = delete;
  ~run_delay() {
    if (file_ >= 0) ::close(file_);
  }

  // Nanoseconds so far. A system call: a microsecond.
  std::int64_t so_far() const {
    std::array<char, 96> text{};  // "<ns run> <ns ready, but not run> <times run>"
    if (file_ < 0 || ::pread(file_, text.data(), text.size() - 1, 0) <= 0) return 0;
    char* rest = nullptr;
    std::strtoull(text.data(), &rest, 10);
    return static_cast<std::int64_t>(std::strtoull(rest, nullptr, 10));
  }

 private:
  explicit run_delay(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

  const int file_;
};

}  // namespace afar::torture
