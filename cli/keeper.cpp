#include "keeper.hpp"

#include "child.hpp"
#include "failure.hpp"
#include "supervision.hpp"
#include "take.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <exception>

namespace afar::cli {
namespace {

std::string this_host() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

int refused(const client& c, const run_plan& p) {
  std::string text = conflict(c, p.name);
  if (::isatty(STDERR_FILENO) == 1)
    text += "\n      wait for it: afar run -w 10m …   look: afar inspect " + p.name;
  message(text);
  return p.not_acquired;
}

// --at-least. A signal or the front's end cuts it short.
void keep_until(boot_clock::time_point t, const signals& from, wire& front) {
  for (auto now = boot_clock::now(); now < t; now = boot_clock::now()) {
    pollfd both[] = {{from.file(), POLLIN, 0}, {front.file(), POLLIN, 0}};
    const auto left = std::chrono::ceil<milliseconds>(t - now).count();
    ::poll(both, 2, static_cast<int>(std::min<milliseconds::rep>(left, 60'000)));
    while (const int s = from.next())
      if (asks_to_leave(s)) return;
    while (const auto n = front.next())
      if (asks_to_leave(n->number)) return;
    if (front.cut()) return;
  }
}

int hold_and_run(const run_plan& p, hold lock, const signals& from, const terminal& tty,
                 wire& front, bool& lost) {
  const auto since = boot_clock::now();
  child command{p.command,
                {.name = p.name,
                 .token = lock.token(),
                 .holder = this_host() + ":" + std::to_string(::getpid())},
                from,
                tty,
                front};
  supervision watch{p, lock, command, from, tty, front};
  lost = watch.run();
  if (lost)
    return p.when_lost == run_plan::on_lost::kill ? number(exit_code::lost) : command.code();
  if (!watch.asked_to_leave()) keep_until(since + p.at_least, from, front);
  std::error_code ec;
  lock.release(ec);
  if (ec == errc::unknown_outcome) message(p.name + ": the release was not confirmed");
  // Found out only now: somebody broke the lock after its last renewal.
  const bool broken = ec == errc::lost && p.at_least == milliseconds{0};
  if (broken) message("the lock " + p.name + " was lost before the command ended");
  return broken && p.when_lost == run_plan::on_lost::kill ? number(exit_code::lost)
                                                          : command.code();
}

int work_for(const run_plan& p, const signals& from, const terminal& tty, wire& front) {
  client c = p.where.open({.lease = p.lease, .label = p.label, .command = p.shown_command});
  for (;;) {
    auto [lock, left_by] = take(c, p, from, front);
    if (left_by != 0) return number(exit_code::signalled) + left_by;
    if (!lock) return refused(c, p);
    bool lost = false;
    const int code = hold_and_run(p, std::move(lock), from, tty, front, lost);
    if (!lost || !p.again || front.cut()) return code;
  }
}

}  // namespace

int keep(const run_plan& p, const signals& from, const terminal& tty, int end) noexcept {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans of the command come to us, and we see their end
  try {
    wire front{end};
    return work_for(p, from, tty, front);
  } catch (...) {
    return tell_failure();
  }
}

}  // namespace afar::cli
