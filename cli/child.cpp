#include "child.hpp"

#include "failure.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

extern char** environ;

namespace afar::cli {
namespace {

// Ours replace those of an outer `afar run`.
std::vector<std::string> environment(const child::surroundings& s) {
  const std::array ours{"AFAR_NAME=" + s.name, "AFAR_TOKEN=" + std::to_string(s.token),
                        "AFAR_HOLDER=" + s.holder};
  std::vector<std::string> out;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view text = *one;
    const auto same = [&](const std::string& o) {
      return text.starts_with(std::string_view{o}.substr(0, o.find('=') + 1));
    };
    if (std::ranges::none_of(ours, same)) out.emplace_back(text);
  }
  out.insert(out.end(), ours.begin(), ours.end());
  return out;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const auto& t : texts) out.push_back(const_cast<char*>(t.c_str()));  // NOLINT: exec's type
  out.push_back(nullptr);
  return out;
}

struct program {
  std::vector<char*> arguments;
  std::vector<char*> environment;
};

// Between vfork and exec: system calls only. The parent's memory is ours until then, so the error
// needs no pipe.
[[noreturn]] void become(const program& p, const signals& from, const terminal& tty,
                         const wire& front, pid_t parent, volatile int& error) noexcept {
  ::setpgid(0, 0);
  // By the command itself: whoever kills the keeper from now on finds a front that knows the group.
  front.send({news::what::started, ::getpid()});
  if (tty.plain()) tty.give(::getpid());
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(number(exit_code::lost));
  std::signal(SIGTTOU, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &from.before(), nullptr);
  ::execvpe(p.arguments[0], p.arguments.data(), p.environment.data());
  error = errno;
  ::_exit(number(exit_code::cannot_execute));
}

[[noreturn]] void fail(const std::string& what, int error) {
  const auto code = error == ENOENT ? exit_code::not_found : exit_code::cannot_execute;
  throw failure{code, what + ": " + std::strerror(error)};
}

}  // namespace

child::child(const std::vector<std::string>& command, const surroundings& s, const signals& from,
             const terminal& tty, const wire& front) {
  const auto texts = environment(s);
  const program p{pointers(command), pointers(texts)};
  const pid_t self = ::getpid();
  volatile int error = 0;
  // vfork: a fork would copy the page tables of a process that has mapped an engine. Nothing that
  // the parent could do meanwhile is urgent; renewals have a thread of their own.
  group_ = ::vfork();  // NOLINT: see above
  if (group_ == 0) become(p, from, tty, front, self, error);
  if (group_ < 0) fail("cannot fork", errno);
  if (error == 0) return;
  ::waitpid(group_, nullptr, 0);
  front.send({news::what::started, 0});
  tty.take_back(group_);
  fail(command[0], error);
}

void child::send(int signal) const noexcept { ::kill(-group_, signal); }

int child::look() {
  int stopped_by = 0;
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    if (pid != group_) continue;
    if (WIFSTOPPED(status)) {
      stopped_by = WSTOPSIG(status);
    } else {
      ended_ = true;
      status_ = status;
    }
  }
  return ended_ ? 0 : stopped_by;
}

bool child::group_gone() const noexcept {
  return ended_ && ::kill(-group_, 0) != 0 && errno == ESRCH;
}

int child::code() const noexcept {
  return WIFEXITED(status_) ? WEXITSTATUS(status_)
                            : number(exit_code::signalled) + WTERMSIG(status_);
}

}  // namespace afar::cli
