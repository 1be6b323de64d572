// What this process uses.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace afar::test {

inline std::size_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks{"/proc/self/task"};
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

// As many as there were before the first test.
std::size_t threads_at_start() noexcept;

}  // namespace afar::test
