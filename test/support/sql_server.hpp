// A real MariaDB or PostgreSQL of this test run: on a free port of the loopback device, with a folder
// of its own, stopped by its process id. Both refuse to run as root; then they run as the user that
// their package made.
#pragma once

#include "support/own_clock.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace afar::test {

enum class database : std::uint8_t { mariadb, postgresql };

struct sql_setting {
  std::vector<std::string> options =
      {};  // as on the command line; "{folder}" is the server's folder
  wall_clock clock = wall_clock::ours;
  std::string zone = {};         // TZ; else ours
  std::string within = {};       // where its folder is; else where temporary files are
  std::uint16_t standby_of = 0;  // PostgreSQL: a copy of the server with that port, that follows it
};

class sql_server {
 public:
  // Starts it and returns when it answers; throws if it does not. It dies with the thread that starts
  // it: start it on the main thread.
  explicit sql_server(database, std::vector<std::string> options = {});
  sql_server(database, sql_setting);
  sql_server(const sql_server&) = delete;
  sql_server& operator=(const sql_server&) = delete;
  ~sql_server();

  database what() const noexcept { return what_; }
  std::uint16_t port() const noexcept { return port_; }
  const std::string& folder() const noexcept { return folder_; }
  pid_t pid() const noexcept { return pid_; }
  // "user:password@host:port/database", of a user who may do everything there.
  std::string address() const { return address(port_); }
  std::string address(std::uint16_t through) const;
  std::string url() const { return scheme() + "://" + address(); }
  std::string scheme() const { return what_ == database::mariadb ? "mysql" : "postgresql"; }

  void stop() noexcept;     // SIGKILL
  void start();             // again, on the same port
  void suspend() noexcept;  // SIGSTOP, all its processes
  void resume() noexcept;

  // Sets its own wall clock that much before or behind ours, at once.
  void shift_clock(std::chrono::nanoseconds by) const { own_clock{folder_}.shift(by); }

 private:
  void remove() const noexcept;
  void make_data() const;
  std::vector<std::string> command_line() const;
  bool answers() const;

  const database what_;
  const sql_setting setting_;
  std::string folder_;
  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace afar::test
