#include "crew.hpp"

#include "clock.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <utility>

extern char** environ;

namespace bench {

namespace {

constexpr int patience_ms = 60'000;

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

std::vector<std::string> own_command(const std::string& role, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"/proc/self/exe", "--child", role});
  return arguments;
}

}  // namespace

member::member(const std::string& role, std::vector<std::string> arguments)
    : member(own_command(role, std::move(arguments))) {}

member::member(std::vector<std::string> command) {
  int in[2];
  int out[2];
  // Without close-on-exec every later child would keep this one's input open.
  check(::pipe2(in, O_CLOEXEC) == 0 ? 0 : errno, "pipe2");
  check(::pipe2(out, O_CLOEXEC) == 0 ? 0 : errno, "pipe2");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);

  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (std::string& w : command) words.push_back(w.data());
  words.push_back(nullptr);
  const int error = ::posix_spawnp(&pid_, words[0], &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  check(error, command[0].c_str());
}

member::~member() {
  if (to_ >= 0) ::close(to_);
  if (from_ >= 0) ::close(from_);
  if (pid_ <= 0) return;
  for (int i = 0; i < 200; ++i) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) return;
    sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void member::kill_and_reap() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void member::tell(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(to_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::system_error(errno, std::generic_category(), "a child is gone");
}

std::string member::hear() {
  for (;;) {
    if (const auto end = buffer_.find('\n'); end != buffer_.npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    pollfd p{from_, POLLIN, 0};
    if (::poll(&p, 1, patience_ms) == 0) throw std::runtime_error("a child does not answer");
    char part[4096];
    const ssize_t n = ::read(from_, part, sizeof part);
    if (n <= 0) throw std::runtime_error("a child died");
    buffer_.append(part, static_cast<std::size_t>(n));
  }
}

bool next_line(std::string& line) { return static_cast<bool>(std::getline(std::cin, line)); }

void answer(const std::string& line) { std::cout << line << std::endl; }

}  // namespace bench
