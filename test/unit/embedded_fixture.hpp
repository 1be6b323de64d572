// Folders and processes for the tests of the embedded engine.
#pragma once

#include "engines/embedded/embedded.hpp"
#include "engines/embedded/folder.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace afar::test {

using namespace std::chrono_literals;

// A path in memory at which nothing is yet; removed with everything in it.
class scratch_folder {
 public:
  scratch_folder() {
    std::string parent = "/dev/shm/afar-test-XXXXXX";
    if (!::mkdtemp(parent.data())) throw std::runtime_error{"no scratch folder"};
    parent_ = parent;
    path_ = parent + "/folder";
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(parent_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string url() const { return "file://" + path_; }
  engines::embedded::address address() const { return {path_, false, false}; }

 private:
  std::string parent_;
  std::string path_;
};

// A forked process that runs `work`, tells its parent things, and is killed at the end.
class child {
 public:
  using tell = std::function<void(char)>;

  explicit child(const std::function<void(const tell&)>& work) {
    int pipe[2];
    if (::pipe(pipe) != 0) throw std::runtime_error{"no pipe"};
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(pipe[0]);
      work([&](char c) {
        if (::write(pipe[1], &c, 1) != 1) ::_exit(1);
      });
      ::_exit(0);
    }
    ::close(pipe[1]);
    out_ = pipe[0];
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() {
    ::close(out_);
    end();
  }

  pid_t pid() const { return pid_; }
  // The next thing it tells; 0: it is gone.
  char hear() const {
    char c = 0;
    return ::read(out_, &c, 1) == 1 ? c : '\0';
  }
  void stop() const {
    ::kill(pid_, SIGSTOP);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }
  // Not after its end: process 0 would be the whole group, with the children of other tests.
  void go_on() const {
    if (pid_ > 0) ::kill(pid_, SIGCONT);
  }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  // How it ended by itself: its exit code, or minus the signal.
  int exit_code() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = 0;
  int out_ = -1;
};

// Sleeps until it is killed.
[[noreturn]] inline void wait_for_the_end() {
  for (;;) ::pause();
}

inline std::unique_ptr<spi::engine> open_folder(const std::string& path, spi::host& up,
                                                std::string option = {}) {
  spi::url where;
  where.scheme = "file";
  where.path = path;
  where.printable = "file://" + path;
  if (!option.empty()) where.options[option] = "1";
  return engines::open_embedded(where, up, boot_clock::now() + 10s);
}

}  // namespace afar::test
