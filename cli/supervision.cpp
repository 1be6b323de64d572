#include "supervision.hpp"

#include "failure.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <stop_token>
#include <utility>

namespace afar::cli {
namespace {

using namespace std::chrono_literals;
using duration = boot_clock::duration;

// Somebody who does not read (a pager, Ctrl-S) must not keep us from stopping the command in time.
bool writable(int fd) noexcept {
  pollfd one{fd, POLLOUT, 0};
  return ::poll(&one, 1, 0) == 1;
}

// The group's members that are nobody's children of ours end without telling us.
constexpr auto look_again = 20ms;

}  // namespace

supervision::supervision(const run_plan& p, const hold& h, child& c, const signals& s,
                         const terminal& t, wire& w)
    : plan_(p),
      hold_(h),
      child_(c),
      signals_(s),
      terminal_(t),
      wire_(w),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      in_foreground_(t.plain()) {}

supervision::~supervision() { ::close(bell_); }

bool supervision::run() {
  const std::stop_callback ring{hold_.lost(), [this] { ::eventfd_write(bell_, 1); }};
  for (;;) {
    longest_ = std::max(longest_, hold_.valid_until() - boot_clock::now());
    look_at_child();
    if (child_.group_gone()) break;
    const auto now = boot_clock::now();
    look_at_lock(now);
    step(now);
    sleep(next_step());
    listen();
  }
  terminal_.take_back(child_.group());
  // It may have been lost before the command's end without our knowing; then it did not run to its
  // end under the lock either.
  if (!lost_ && !hold_.valid()) lose("", boot_clock::now());
  tell();  // nothing has to be in time any more
  return lost_;
}

void supervision::look_at_child() {
  const int stopped_by = child_.look();
  if (child_.ended() && phase_ == phase::running) {
    phase_ = phase::left_over;
    due_ = boot_clock::now() + grace();
  }
  if (stopped_by == 0) return;
  const bool wants_terminal = stopped_by == SIGTTIN || stopped_by == SIGTTOU;
  if (wants_terminal && terminal_.give(child_.group())) {
    in_foreground_ = true;
    return child_.send(SIGCONT);
  }
  if (terminal_.has_shell()) return wire_.send({news::what::stopped, stopped_by});
  if (stopped_by == SIGTSTP) child_.send(SIGCONT);  // nobody is there who could do it later
}

duration supervision::grace() const noexcept {
  return std::min<duration>(plan_.kill_after.value_or(10s), longest_ / 3);
}

duration supervision::margin() const noexcept { return std::min<duration>(2s, longest_ / 10); }

void supervision::look_at_lock(time_point now) {
  if (lost_ || child_.ended()) return;
  if (!hold_.valid()) return lose(std::string{word(hold_.why())}, now);
  if (!asked_for_ && hold_.why() == loss_reason::asked) return give_back(now);
  if (plan_.when_lost == run_plan::on_lost::kill && now >= term_at())
    lose("it could not be renewed", now);
}

// It is still ours: the command has all of its grace.
void supervision::give_back(time_point now) {
  asked_for_ = true;
  lost_ = plan_.when_lost == run_plan::on_lost::kill;
  if (lost_) begin_end(now);
  untold_ = "the lock " + hold_.name() + " is asked for; the command " +
            (lost_ ? "is stopped" : "goes on");
  if (writable(STDERR_FILENO)) tell();
}

void supervision::lose(const std::string& why, time_point now) {
  lost_ = true;
  const bool stop = plan_.when_lost == run_plan::on_lost::kill && !child_.ended();
  if (stop) begin_end(now);
  untold_ = "the lock " + hold_.name() + " is lost" + (why.empty() ? "" : " (" + why + ")") +
            (stop ? "; the command is stopped" : "; the command may have run without it");
  if (writable(STDERR_FILENO)) tell();
}

void supervision::tell() {
  if (!untold_.empty()) message(std::exchange(untold_, {}));
}

void supervision::begin_end(time_point now) {
  if (phase_ == phase::ending || phase_ == phase::killed) return;
  child_.send(SIGTERM);
  child_.send(SIGCONT);  // what is stopped cannot hear
  phase_ = phase::ending;
  due_ = now + grace();
}

supervision::time_point supervision::term_at() const noexcept {
  return hold_.valid_until() - margin() - grace();  // (inv 2)
}

supervision::time_point supervision::kill_at() const noexcept {
  return std::min(due_, hold_.valid_until() - margin());  // (inv 2)
}

void supervision::step(time_point now) {
  if (phase_ == phase::left_over && now >= std::min(due_, term_at())) begin_end(now);
  if (phase_ == phase::ending && now >= kill_at()) {
    phase_ = phase::killed;
    child_.send(SIGKILL);
  }
}

supervision::time_point supervision::next_step() const noexcept {
  auto next = time_point::max();
  if (phase_ == phase::running && !lost_)
    next = plan_.when_lost == run_plan::on_lost::kill ? term_at() : hold_.valid_until();
  if (phase_ == phase::left_over) next = due_;
  if (phase_ == phase::ending) next = kill_at();
  return child_.ended() ? std::min(next, boot_clock::now() + look_again) : next;
}

void supervision::sleep(time_point until) const noexcept {
  pollfd all[] = {{signals_.file(), POLLIN, 0},
                  {lost_ || asked_for_ ? -1 : bell_, POLLIN, 0},
                  {wire_.cut() ? -1 : wire_.file(), POLLIN, 0}};
  if (until == time_point::max()) {
    ::poll(all, 3, -1);
    return;
  }
  // Long leases are looked at once a minute: poll counts no suspended time.
  const auto left = std::clamp<duration>(until - boot_clock::now(), 0ns, 60s);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  const timespec wait{seconds.count(), (left - seconds).count()};
  ::ppoll(all, 3, &wait, nullptr);
}

void supervision::listen() {
  while (const int s = signals_.next()) hear(s);
  while (const auto n = wire_.next()) hear(n->number);
  if (wire_.cut()) begin_end(boot_clock::now());
}

void supervision::hear(int signal) {
  if (signal == SIGCHLD) return;
  asked_to_leave_ |= asks_to_leave(signal);
  if (signal == SIGCONT && in_foreground_) terminal_.give(child_.group());
  child_.send(signal);
}

}  // namespace afar::cli
