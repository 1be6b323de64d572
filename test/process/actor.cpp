#include "actor.hpp"

#include "support/patience.hpp"
#include "support/system_failure.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <sstream>
#include <stdexcept>
#include <system_error>

extern char** environ;

namespace afar::test {

namespace {

struct two_ends {
  int read = -1;
  int write = -1;
};

two_ends make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe2");
  return {ends[0], ends[1]};
}

std::string ms(std::chrono::milliseconds d) { return std::to_string(d.count()); }

}  // namespace

std::vector<std::string> words(const std::string& line) {
  std::istringstream in{line};
  std::vector<std::string> all;
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

actor::actor(std::string url) {
  std::signal(SIGPIPE, SIG_IGN);
  const two_ends commands = make_pipe();
  const two_ends answers = make_pipe();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, commands.read, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, answers.write, STDOUT_FILENO);
  std::string program = AFAR_ACTOR;
  char* arguments[] = {program.data(), url.data(), nullptr};
  const int error = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(commands.read);
  ::close(answers.write);
  to_ = commands.write;
  from_ = answers.read;
  if (error != 0) throw std::system_error(error, std::generic_category(), program);
  const std::string first = answer();
  if (first != "ready") throw std::runtime_error("actor: " + first);
}

actor::~actor() {
  if (!reaped_ && pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(to_);
  ::close(from_);
}

void actor::send(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(to_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    fail("write to the actor");
}

bool actor::has_answered(std::chrono::nanoseconds within) {
  if (unread_.find('\n') != std::string::npos) return true;
  pollfd ready{from_, POLLIN, 0};
  const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(within).count();
  return ::poll(&ready, 1, static_cast<int>(wait)) > 0;
}

std::string actor::answer() {
  for (;;) {
    const auto end = unread_.find('\n');
    if (end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    if (!has_answered(2 * long_time)) throw std::runtime_error("the actor does not answer");
    char text[4096];
    const ssize_t got = ::read(from_, text, sizeof text);
    if (got <= 0) throw std::runtime_error("the actor is gone");
    unread_.append(text, static_cast<std::size_t>(got));
  }
}

std::string actor::ask(const std::string& line) {
  send(line);
  return answer();
}

void actor::send_acquire(const std::string& kind, const std::string& name,
                         std::chrono::milliseconds within, const std::string& renewal) {
  send("acquire " + kind + " " + name + " " + ms(within) + " " + renewal);
}

grant actor::receive_grant() {
  const std::string line = answer();
  const std::vector<std::string> parts = words(line);
  grant g;
  if (parts.size() == 5 && parts[0] == "granted") {
    g.token = std::stoull(parts[1]);
    g.at = std::stoll(parts[2]);
    g.valid_until = std::stoll(parts[3]);
    g.took = std::chrono::nanoseconds{std::stoll(parts[4])};
  } else if (parts.size() >= 4 && parts[0] == "refused") {
    g.error = std::stoi(parts[1]);
    g.at = std::stoll(parts[2]);
    g.took = std::chrono::nanoseconds{std::stoll(parts[3])};
    g.message = line;
  } else {
    throw std::runtime_error("actor: " + line);
  }
  return g;
}

grant actor::acquire(const std::string& kind, const std::string& name,
                     std::chrono::milliseconds within, const std::string& renewal) {
  send_acquire(kind, name, within, renewal);
  return receive_grant();
}

bool actor::stops() {
  return eventually(
      [&] {
        siginfo_t info{};
        return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG) == 0 &&
               info.si_pid == pid_;
      },
      20s);
}

void actor::stop() {
  ::kill(pid_, SIGSTOP);
  if (!stops()) throw std::runtime_error("the actor does not stop");
}

// Not after it was reaped: its pid may be another's by then.
void actor::resume() {
  if (!reaped_) ::kill(pid_, SIGCONT);
}

void actor::reap() {
  if (!reaped_) ::waitpid(pid_, &status_, 0);
  reaped_ = true;
}

void actor::kill() {
  if (reaped_) return;
  death_ = stamp();
  ::kill(pid_, SIGKILL);
  reap();
}

// By a pidfd, so that the stamp is that of the end and not that of the next look.
bool actor::ends() {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (fd < 0) fail("pidfd_open");
  pollfd over{fd, POLLIN, 0};
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(long_time).count();
  const bool ended = ::poll(&over, 1, static_cast<int>(limit)) > 0;
  death_ = stamp();
  ::close(fd);
  if (ended) reap();
  return ended;
}

bool actor::dies() { return ends() && WIFSIGNALED(status_) && WTERMSIG(status_) == SIGKILL; }

int actor::leave() {
  send("exit");
  return ends() && WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
}

}  // namespace afar::test
