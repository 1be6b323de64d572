// `afar run` is three processes:
//
//   front    the one that was started. It passes signals on and stops and continues with its shell.
//   keeper   holds the lock, starts the command, ends its group, then releases. It has a process
//            group of its own, so nothing that is done to the job stops its renewals.
//   command  in a third group, with all its children.
//
// Whichever is killed, the others end the group: the keeper when the front is gone (it still holds
// the lock until the group is gone), the front when the keeper is. That is why the front does not
// hold the lock itself: the embedded engine gives a dead holder's lock away at once.
#include "failure.hpp"
#include "keeper.hpp"
#include "run_plan.hpp"
#include "signals.hpp"
#include "terminal.hpp"
#include "wire.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace afar::cli {
namespace {

class front {
 public:
  front(pid_t keeper, const signals& from, const terminal& tty, int end)
      : keeper_(keeper), signals_(from), terminal_(tty), wire_(end) {}

  int wait_for_keeper() {
    int status = 0;
    for (;;) {
      pollfd both[] = {{signals_.file(), POLLIN, 0}, {wire_.file(), POLLIN, 0}};
      ::poll(both, wire_.cut() ? 1 : 2, -1);
      while (const auto n = wire_.next()) hear(*n);
      while (const int s = signals_.next()) pass_on(s);
      if (::waitpid(keeper_, &status, WNOHANG) == keeper_) break;
    }
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    return without_keeper(WTERMSIG(status));
  }

 private:
  void hear(news n) {
    if (n.kind == news::what::started) command_ = n.number;
    if (n.kind == news::what::stopped && terminal_.has_shell()) stop();
  }

  void pass_on(int signal) const {
    if (signal != SIGCHLD) wire_.send({news::what::signal, signal});
  }

  // The whole job stops, so that its shell takes over. Our own SIGTSTP is blocked and vanishes with
  // the SIGCONT that continues us.
  static void stop() {
    ::kill(0, SIGTSTP);
    ::raise(SIGSTOP);
  }

  // The lease runs on, but nobody renews it or knows how long it lasts.
  int without_keeper(int signal) const {
    if (command_ > 0) {
      ::kill(-command_, SIGKILL);
      ::waitpid(command_, nullptr, 0);  // ours now: we are the subreaper above the keeper
      terminal_.take_back(command_);
    }
    message("the process that held the lock was killed by signal " + std::to_string(signal) +
            (command_ > 0 ? "; the command was stopped" : ""));
    return number(exit_code::lost);
  }

  const pid_t keeper_;
  const signals& signals_;
  const terminal& terminal_;
  wire wire_;
  pid_t command_ = 0;
};

}  // namespace

int run(const run_plan& plan) {
  const signals caught;
  const terminal tty;
  std::signal(SIGTTOU, SIG_IGN);  // keeper and front move the foreground from behind
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const two_ends ends = make_wire();
  const pid_t keeper = ::fork();
  if (keeper < 0) throw failure{exit_code::unavailable, "cannot fork"};
  if (keeper == 0) {
    ::close(ends.front);
    ::setpgid(0, 0);
    ::_exit(keep(plan, caught, tty, ends.keeper));
  }
  ::close(ends.keeper);
  return front{keeper, caught, tty, ends.front}.wait_for_keeper();
}

}  // namespace afar::cli
