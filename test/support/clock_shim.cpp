// Loaded into a server by LD_PRELOAD: its wall clock differs by the nanoseconds that the file
// AFAR_CLOCK holds, from the moment at which they are written. Steady clocks are as they are.
// (libfaketime hangs redis-server.)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

const volatile std::int64_t* shift = nullptr;

__attribute__((constructor)) void open_shift() {
  const char* path = std::getenv("AFAR_CLOCK");
  const int fd = path ? ::open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void* at = ::mmap(nullptr, sizeof *shift, PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  if (at != MAP_FAILED) shift = static_cast<const std::int64_t*>(at);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t which, timespec* t) noexcept {
  const long failed = ::syscall(SYS_clock_gettime, which, t);
  if (failed == 0 && shift && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) {
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t now = t->tv_sec * second + t->tv_nsec + *shift;
    *t = {.tv_sec = now / second, .tv_nsec = now % second};
  }
  return static_cast<int>(failed);
}

int gettimeofday(timeval* t, void*) noexcept {
  timespec now{};
  const int failed = clock_gettime(CLOCK_REALTIME, &now);
  *t = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1'000};
  return failed;
}

time_t time(time_t* t) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (t) *t = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
