// Counts what a piece of work costs besides time: heap allocations of the whole process, and system
// calls where the kernel lets us count them.
#pragma once

#include <cstdint>
#include <optional>

namespace bench {

// Calls of operator new by all threads so far. malloc by C libraries is not seen.
std::uint64_t allocations() noexcept;

// System calls of this thread and of all threads that it starts after the construction.
class syscall_counter {
 public:
  syscall_counter() noexcept;  // needs the right to trace; without it count() has no value
  ~syscall_counter();
  syscall_counter(const syscall_counter&) = delete;
  syscall_counter& operator=(const syscall_counter&) = delete;

  std::optional<std::uint64_t> count() const noexcept;

 private:
  int fd_ = -1;
};

}  // namespace bench
