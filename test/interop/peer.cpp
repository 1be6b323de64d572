#include "peer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

extern char** environ;

namespace afar::test {

namespace {

constexpr nanoseconds to_start = 60s;  // a virtual machine on a busy machine

}  // namespace

peer::peer(std::vector<std::string> command) {
  std::signal(SIGPIPE, SIG_IGN);
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe2");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  std::vector<char*> words;
  for (std::string& w : command) words.push_back(w.data());
  words.push_back(nullptr);
  const int error = ::posix_spawnp(&pid_, words[0], &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (error != 0) throw std::system_error(error, std::generic_category(), command[0]);
  if (!has_answered("ready", to_start)) throw std::runtime_error{command[0] + " does not start"};
  version_ = answer("ready");
}

peer::~peer() {
  kill();
  ::close(to_);
  ::close(from_);
}

void peer::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

void peer::send(const std::string& who, const std::string& what) {
  const std::string line = who + " " + what + "\n";
  if (::write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::system_error(errno, std::generic_category(), "write to a peer");
}

void peer::read_for(nanoseconds time) {
  pollfd readable{from_, POLLIN, 0};
  const auto ms = std::chrono::ceil<milliseconds>(time).count();
  if (::poll(&readable, 1, static_cast<int>(ms)) <= 0) return;
  char bytes[4096];
  const auto n = ::read(from_, bytes, sizeof bytes);
  if (n <= 0) throw std::runtime_error{"the peer has ended"};
  unread_.append(bytes, static_cast<std::size_t>(n));
  for (std::size_t end; (end = unread_.find('\n')) != std::string::npos;) {
    const std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    const auto blank = line.find(' ');
    answers_[line.substr(0, blank)].push_back(blank == std::string::npos ? std::string{}
                                                                         : line.substr(blank + 1));
  }
}

bool peer::has_answered(const std::string& who, nanoseconds within) {
  const auto end = std::chrono::steady_clock::now() + within;
  while (answers_[who].empty()) {
    const auto left = end - std::chrono::steady_clock::now();
    read_for(std::max<nanoseconds>(left, 0ns));
    if (left <= 0ns) break;
  }
  return !answers_[who].empty();
}

std::string peer::answer(const std::string& who) {
  if (!has_answered(who, long_time)) throw std::runtime_error{"the peer does not answer " + who};
  auto& all = answers_[who];
  std::string first = std::move(all.front());
  all.erase(all.begin());
  return first;
}

std::string peer::ask(const std::string& who, const std::string& what) {
  send(who, what);
  return answer(who);
}

namespace {

std::string told_folder() {
  const char* told = std::getenv("AFAR_PEERS");
  if (!told) throw std::runtime_error{"AFAR_PEERS is not set; see test/interop/get_peers"};
  return told;
}

}  // namespace

std::string peers_folder() {
  std::string folder = told_folder();
  return std::filesystem::exists(folder + "/unreachable") ? std::string{} : folder;
}

std::string peer_file(const std::string& name) {
  const std::string file = told_folder() + '/' + name;
  if (std::filesystem::exists(file)) return file;
  if (peers_folder().empty()) return {};
  throw std::runtime_error{file + " is missing; call test/interop/get_peers"};
}

}  // namespace afar::test
