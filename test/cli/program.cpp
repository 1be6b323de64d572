#include "program.hpp"

#include "support/patience.hpp"
#include "support/system_failure.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace afar::test {
namespace {

std::vector<char*> pointers(const words_of& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const auto& w : words) out.push_back(const_cast<char*>(w.c_str()));
  out.push_back(nullptr);
  return out;
}

// That of this process with `more` instead of what it says of the same names. It is given to the
// program only: what this process has stays as it is for the tests after this one.
words_of environment_with(const program::environment& more) {
  words_of out;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string text = *one;
    if (!more.contains(text.substr(0, text.find('=')))) out.push_back(text);
  }
  for (const auto& [name, value] : more) out.push_back(name + "=" + value);
  return out;
}

[[noreturn]] void become(const words_of& command, const words_of& surroundings) {
  const auto words = pointers(command);
  ::execvpe(words[0], words.data(), pointers(surroundings).data());
  ::_exit(125);
}

void drain_into(std::string& to, int fd) {
  if (fd < 0) return;
  char text[4096];
  for (ssize_t n = 0; (n = ::read(fd, text, sizeof text)) > 0;)
    for (ssize_t i = 0; i < n; ++i)
      if (text[i] != '\r') to += text[i];
}

void unblock(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

// Fields of /proc/<pid>/stat after the name: state, parent, group, …
std::vector<std::string> stat_of(pid_t pid) {
  const std::string text = contents("/proc/" + std::to_string(pid) + "/stat");
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream in{text.substr(name_end + 1)};
  return {std::istream_iterator<std::string>{in}, {}};
}

template <class Wanted>
std::vector<pid_t> processes(Wanted wanted) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto pid = static_cast<pid_t>(std::stol(name));
    const auto fields = stat_of(pid);
    if (fields.size() > 3 && fields[0] != "Z" && fields[0] != "X" && wanted(fields))
      found.push_back(pid);
  }
  return found;
}

}  // namespace

program::program(on where, const words_of& command, const environment& more) {
  const auto surroundings = environment_with(more);
  if (where == on::pipes)
    start_on_pipes(command, surroundings);
  else
    start_on_terminal(command, surroundings);
}

void program::start_on_pipes(const words_of& command, const words_of& surroundings) {
  int in[2];
  int out[2];
  int err[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0)
    fail("pipe2");
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setsid();  // no terminal, whatever the tests run on
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    become(command, surroundings);
  }
  ::close(in[0]);
  ::close(out[1]);
  ::close(err[1]);
  in_ = in[1];
  out_fd_ = out[0];
  err_fd_ = err[0];
  unblock(out_fd_);
  unblock(err_fd_);
}

void program::start_on_terminal(const words_of& command, const words_of& surroundings) {
  pid_ = ::forkpty(&in_, nullptr, nullptr, nullptr);
  if (pid_ < 0) fail("forkpty");
  if (pid_ == 0) become(command, surroundings);
  ::fcntl(in_, F_SETFD, FD_CLOEXEC);
  out_fd_ = ::fcntl(in_, F_DUPFD_CLOEXEC, 3);
  unblock(out_fd_);
}

program::~program() {
  if (!reaped_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const int fd : {in_, out_fd_, err_fd_})
    if (fd >= 0) ::close(fd);
}

void program::type(const std::string& text) const {
  if (::write(in_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) fail("write");
}

void program::close_stdin() {
  ::close(in_);
  in_ = -1;
}

void program::signal(int number) const {
  if (!reaped_) ::kill(pid_, number);
}

void program::drain() {
  drain_into(out_, out_fd_);
  drain_into(err_, err_fd_);
}

const std::string& program::out() {
  drain();
  return out_;
}

const std::string& program::err() {
  drain();
  return err_;
}

bool program::says(const std::string& text) {
  return eventually(
      [&] {
        drain();
        return out_.find(text) != std::string::npos || err_.find(text) != std::string::npos;
      },
      long_time);
}

bool program::stops() {
  return eventually([&] {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG) == 0 &&
           info.si_pid == pid_;
  });
}

bool program::running() {
  if (reaped_) return false;
  reaped_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return !reaped_;
}

int program::ends() {
  // It may wait for us to read.
  const bool over = eventually(
      [&] {
        drain();
        return !running();
      },
      long_time);
  drain();
  if (!over) return -1;
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
}

pid_t program::foreground() const { return ::tcgetpgrp(in_); }

words_of afar(words_of words) {
  words.insert(words.begin(), AFAR_BINARY);
  return words;
}

program::environment engine_of(const scene& s, const std::string& query) {
  return {{"AFAR_URL", s.url() + (query.empty() ? "" : "?" + query)}};
}

bool alive(pid_t pid) {
  const auto fields = stat_of(pid);
  return !fields.empty() && fields[0] != "Z" && fields[0] != "X";
}

bool sleeps(pid_t pid) {
  const auto fields = stat_of(pid);
  return !fields.empty() && fields[0] == "S";
}

std::vector<pid_t> members_of_group(pid_t group) {
  return processes([&](const auto& fields) { return fields[2] == std::to_string(group); });
}

std::vector<pid_t> children_of(pid_t pid) {
  return processes([&](const auto& fields) { return fields[1] == std::to_string(pid); });
}

// Not by a stream: that throws when a process of /proc ends meanwhile.
std::string contents(const std::string& path) {
  const std::ifstream file{path, std::ios::binary};
  std::ostringstream out;
  out << file.rdbuf();  // does not throw when a process whose file this is ends meanwhile
  return out.str();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream{path, std::ios::binary} << text;
}

}  // namespace afar::test
