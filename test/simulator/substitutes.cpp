// What the library asks of the system, answered by the world. These definitions come before those of the
// archive of the library, so that its own files of the same names (timers, notifier, parker) stay out of
// the test; everything else of the core is the very code that users get.
#include "core/notifier.hpp"
#include "core/parker.hpp"
#include "core/timers.hpp"
#include "simulator/world.hpp"

#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <utility>

using afar::test::world;

// Threads of the library get their turn a little late; both together less than the least margin, 2 ms.
namespace {
using namespace std::chrono_literals;
constexpr afar::test::nanoseconds latest_turn = 700us;
}  // namespace

extern "C" {

__attribute__((no_sanitize("address", "thread", "undefined"))) int clock_gettime(
    clockid_t which, timespec* out) noexcept {
  if (which != CLOCK_BOOTTIME || !world::running())
    return static_cast<int>(::syscall(SYS_clock_gettime, which, out));
  auto& w = world::current();
  if (w.acting() == world::nowhere) std::abort();  // no machine, no clock
  const auto t = w.clock(w.acting()).time_since_epoch();
  *out = {.tv_sec = static_cast<time_t>(t / 1s), .tv_nsec = static_cast<long>((t % 1s).count())};
  return 0;
}

__attribute__((no_sanitize("address", "thread", "undefined"))) ssize_t getrandom(void* to,
                                                                                 size_t size,
                                                                                 unsigned flags) {
  if (!world::running()) return ::syscall(SYS_getrandom, to, size, flags);
  auto* at = static_cast<unsigned char*>(to);
  for (size_t i = 0; i < size; ++i) at[i] = static_cast<unsigned char>(world::current().draw());
  return static_cast<ssize_t>(size);
}
}

namespace afar::detail {

// ---- timers -------------------------------------------------------------------------------------

struct timers::impl {};
timers::timers() = default;
timers::~timers() = default;

timers& timers::shared() {
  static auto* const instance = new timers;  // like the real ones, never destroyed
  return *instance;
}

timers::id timers::at(boot_clock::time_point when, function<void()> f) {
  auto& w = world::current();
  const auto m = w.acting();
  return w.at(w.when(m, when) + w.between(0ns, latest_turn), m, std::move(f));
}

bool timers::cancel(id which) noexcept { return world::current().cancel(which); }

void start_own_thread(const char*, function<void()>) { std::abort(); }  // there are none

// ---- notifier -----------------------------------------------------------------------------------

struct notifier::impl {};
notifier::notifier() = default;
notifier::~notifier() = default;

notifier& notifier::shared() {
  static auto* const instance = new notifier;
  return *instance;
}

void notifier::post(function<void()> f) {
  auto& w = world::current();
  w.after(w.between(0ns, latest_turn), w.acting(), std::move(f));
}

// ---- parker: the world goes on while somebody sleeps ----------------------------------------------

void parker::park_until(boot_clock::time_point until) noexcept {
  world::current().sleep_until(until, [this] { return word_.load() != 0; });
  word_ = 0;
}

void parker::notify() noexcept { word_ = 1; }

}  // namespace afar::detail
