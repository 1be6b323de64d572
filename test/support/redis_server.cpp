#include "support/redis_server.hpp"

#include "support/loopback.hpp"
#include "support/patience.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace afar::test {
namespace {

std::string make_folder() {
  std::string path = (std::filesystem::temp_directory_path() / "afar-redis-XXXXXX").string();
  if (!::mkdtemp(path.data())) throw std::runtime_error{"cannot make a folder for redis-server"};
  return path;
}

void replace_all(std::string& text, std::string_view mark, const std::string& by) {
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size()))
    text.replace(at, mark.size(), by);
}

}  // namespace

redis_server::redis_server(std::vector<std::string> options, wall_clock c)
    : redis_server(std::move(options), c, {}) {}

std::unique_ptr<redis_server> redis_server::sentinel(const std::string& configuration) {
  return std::unique_ptr<redis_server>{new redis_server{{}, wall_clock::ours, configuration}};
}

redis_server::redis_server(std::vector<std::string> options, wall_clock c, std::string sentinel)
    : options_(std::move(options)),
      clock_(c),
      sentinel_(std::move(sentinel)),
      folder_(make_folder()) {
  // The port is free when we look; somebody else may be quicker.
  for (int attempt = 0; attempt < 5; ++attempt) {
    port_ = free_port();
    second_port_ = free_port();
    try {
      start();
      return;
    } catch (const std::runtime_error&) {
      if (attempt == 4) throw;
    }
  }
}

redis_server::~redis_server() {
  stop();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::vector<std::string> redis_server::command_line() const {
  if (!sentinel_.empty()) {
    const std::string file = folder_ + "/sentinel.conf";  // which it rewrites
    std::ofstream{file} << "port " << port_ << "\nbind 127.0.0.1\ndir " << folder_ << "\nlogfile "
                        << folder_ << "/log\n"
                        << sentinel_;
    return {"redis-server", file, "--sentinel"};
  }
  std::vector<std::string> words{
      "redis-server",
      "--port",
      std::to_string(port_),
      "--bind",
      "127.0.0.1",
      "--dir",
      folder_,
      "--save",
      "",
      "--appendonly",
      "no",
      "--logfile",
      folder_ + "/log",
      "--enable-debug-command",
      "yes",
      "--repl-diskless-sync-delay",  // 5 s would pass before the first replica has all
      "0"};
  for (std::string option : options_) {
    replace_all(option, "{folder}", folder_);
    replace_all(option, "{port}", std::to_string(second_port_));
    words.push_back(std::move(option));
  }
  return words;
}

void redis_server::start() {
  std::vector<std::string> words = command_line();
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  std::vector<std::string> own;
  std::vector<char*> environment;
  if (clock_ == wall_clock::its_own) {
    shift_clock({});
    own = own_clock{folder_}.environment();
    for (std::string& o : own) environment.push_back(o.data());
  }
  for (char** e = environ; *e; ++e) environment.push_back(*e);
  environment.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error{"cannot fork"};
  if (pid_ == 0) {  // only what may be called after a fork of many threads
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const int out = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {0, 1, 2}) ::dup2(out, fd);
    ::execvpe(argv[0], argv.data(), environment.data());
    ::_exit(127);
  }
  bool ended = false;
  const bool up = eventually(
      [&] {
        ended = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
        return ended || answers();
      },
      10s);
  if (ended) pid_ = -1;
  if (up && !ended) return;
  stop();
  throw std::runtime_error{"redis-server does not start (is the package installed?)"};
}

bool redis_server::answers() const {
  const std::string answer = ask({"PING"});
  return answer.starts_with("+PONG") || answer.starts_with("-NOAUTH");
}

void redis_server::stop() noexcept {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void redis_server::suspend() noexcept { ::kill(pid_, SIGSTOP); }
void redis_server::resume() noexcept { ::kill(pid_, SIGCONT); }

std::string redis_server::ask(const std::vector<std::string>& words) const {
  std::string out = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& w : words) out += "$" + std::to_string(w.size()) + "\r\n" + w + "\r\n";
  return ask_port(port_, out);
}

}  // namespace afar::test
