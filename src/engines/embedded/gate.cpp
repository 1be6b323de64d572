#include "engines/embedded/gate.hpp"

#include "engines/embedded/failure.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>

namespace afar::engines::embedded {
namespace {

// pthread's timed waits take no CLOCK_BOOTTIME. The two differ only by the time suspended, in which
// nobody waits.
timespec monotonic(spi::time_point by) {
  using namespace std::chrono;
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  constexpr auto ceiling = boot_clock::duration{hours{24}};
  const auto left = std::clamp(by - boot_clock::now(), boot_clock::duration::zero(), ceiling);
  const auto at = seconds{t.tv_sec} + nanoseconds{t.tv_nsec} + left;
  t.tv_sec = static_cast<time_t>(duration_cast<seconds>(at).count());
  t.tv_nsec = static_cast<long>((at % seconds{1}).count());
  return t;
}

// 'T' stopped, 't' traced; 0 if it cannot be seen.
char state_of(std::int32_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  char line[512] = {};
  const std::size_t got = std::fread(line, 1, sizeof line - 1, file);
  std::fclose(file);
  const std::string text{line, got};
  const auto name_end = text.rfind(')');  // the command may contain anything, also ") T"
  return name_end != std::string::npos && name_end + 2 < text.size() ? text[name_end + 2] : '\0';
}

}  // namespace

void make_gate(gate_cell& cell) {
  pthread_mutexattr_t kind;
  ::pthread_mutexattr_init(&kind);
  ::pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  const int rc = ::pthread_mutex_init(&cell.mutex, &kind);
  ::pthread_mutexattr_destroy(&kind);
  if (rc != 0) throw failure{system_failure(rc, "make a shared mutex")};
  cell.pid.store(0, std::memory_order_relaxed);
  cell.room.store(0, std::memory_order_relaxed);
}

bool gate::entered(int rc) noexcept {
  if (rc == EOWNERDEAD) rc = ::pthread_mutex_consistent(&cell_.mutex);  // (inv 2)
  if (rc != 0) return false;
  cell_.pid.store(pid_, std::memory_order_relaxed);
  return true;
}

bool gate::try_enter() noexcept { return entered(::pthread_mutex_trylock(&cell_.mutex)); }

spi::status gate::enter(spi::time_point by) {
  if (try_enter()) return {};
  const timespec until = monotonic(by);
  const int rc = ::pthread_mutex_clocklock(&cell_.mutex, CLOCK_MONOTONIC, &until);
  if (entered(rc)) return {};
  if (rc == ETIMEDOUT) return blocked();
  return system_failure(rc, "lock a shared mutex");
}

void gate::leave() noexcept { ::pthread_mutex_unlock(&cell_.mutex); }

spi::status gate::blocked() const {
  const std::int32_t pid = cell_.pid.load(std::memory_order_relaxed);
  const std::string who = "process " + std::to_string(pid);
  const char state = state_of(pid);
  if (state == 'T' || state == 't')
    return {errc::unavailable, who + " is stopped inside a step; continue or kill it"};
  return {errc::timed_out, who + " did not leave a step in time"};
}

}  // namespace afar::engines::embedded
