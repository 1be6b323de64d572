// Processes that we start, stop and end.
#pragma once

#include <afar/boot_clock.hpp>

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include <poll.h>

namespace afar::torture {

// Polls `condition` every millisecond until it holds; false: not within `time`.
template <class Condition>
bool eventually(std::chrono::nanoseconds time, Condition condition) {
  const auto end = afar::boot_clock::now() + time;
  while (!condition()) {
    if (afar::boot_clock::now() >= end) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

// Of a child; neither reaps it.
bool has_ended(pid_t);
bool has_stopped(pid_t);
// Of one that has ended: "signal 11", "exit code 1".
std::string ending_of(pid_t);

// Starts `program` with AFAR_URL set: an argument could be read by everybody. Throws std::system_error.
pid_t start_process(const std::string& program, std::vector<std::string> words,
                    const std::string& url);

// A folder that is gone with this object.
class temporary_folder {
 public:
  explicit temporary_folder(const std::string& what);
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace afar::torture
