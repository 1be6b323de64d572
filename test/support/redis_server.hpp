// A real redis-server of this test run: on a free port of the loopback device, with a folder of its
// own, stopped by its process id.
#pragma once

#include "support/own_clock.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace afar::test {

class redis_server {
 public:
  // Starts it and returns when it answers; throws if it does not. `options` as on the command line:
  // {"--requirepass", "x"}; "{folder}" in them stands for its folder, "{port}" for a second free port.
  // The server dies with the thread that starts it, so that a test that is
  // killed leaves none behind: start it on the main thread.
  explicit redis_server(std::vector<std::string> options = {}, wall_clock = wall_clock::ours);
  // A Sentinel with this configuration ("sentinel monitor …").
  static std::unique_ptr<redis_server> sentinel(const std::string& configuration);
  redis_server(const redis_server&) = delete;
  redis_server& operator=(const redis_server&) = delete;
  ~redis_server();

  std::uint16_t port() const noexcept { return port_; }
  std::uint16_t second_port() const noexcept { return second_port_; }
  const std::string& folder() const noexcept { return folder_; }
  pid_t pid() const noexcept { return pid_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url() const { return "redis://" + address(); }

  void stop() noexcept;     // SIGKILL: nothing is stored
  void start();             // again, on the same port
  void suspend() noexcept;  // SIGSTOP
  void resume() noexcept;

  // What redis-cli would print, roughly: sends one command over a connection of its own and returns
  // the answer's bytes as they came.
  std::string ask(const std::vector<std::string>& words) const;

  // Sets its own wall clock that much before or behind ours, at once.
  void shift_clock(std::chrono::nanoseconds by) const { own_clock{folder_}.shift(by); }

 private:
  redis_server(std::vector<std::string> options, wall_clock, std::string sentinel);
  std::vector<std::string> command_line() const;
  bool answers() const;

  const std::vector<std::string> options_;
  const wall_clock clock_;
  const std::string sentinel_;  // its configuration; empty: a server
  std::string folder_;
  std::uint16_t port_ = 0;
  std::uint16_t second_port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace afar::test
