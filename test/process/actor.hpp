// Another process that does as it is told: afar_actor, see actor_main.cpp for its verbs. One line
// in, one line out. Whoever made it ends it: the destructor kills it and waits for its end.
#pragma once

#include "scene.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace afar::test {

// The answer to acquire.
struct grant {
  std::uint64_t token = 0;       // 0: refused
  std::int64_t at = 0;           // stamp after the call
  std::int64_t valid_until = 0;  // stamp
  int error = 0;                 // refused: errc
  std::chrono::nanoseconds took{};
  std::string message;  // refused: what() of the exception

  explicit operator bool() const { return token != 0; }
};

class actor {
 public:
  // `query`: options of its client, as in a URL: "lease=400ms&patience=1s".
  explicit actor(const scene& where, const std::string& query = "lease=30s")
      : actor(where.url() + "?" + query) {}
  explicit actor(std::string url);
  actor(const actor&) = delete;
  actor& operator=(const actor&) = delete;
  ~actor();

  pid_t pid() const { return pid_; }

  void send(const std::string& line);
  std::string answer();  // throws std::runtime_error if there is none in time
  bool has_answered(std::chrono::nanoseconds within = {});
  std::string ask(const std::string& line);
  long number(const std::string& line) { return std::stol(ask(line)); }

  // kind: mutex fair_mutex shared_mutex (exclusive) reader permits election.
  void send_acquire(const std::string& kind, const std::string& name,
                    std::chrono::milliseconds within = std::chrono::hours{1},
                    const std::string& renewal = "automatic");
  grant receive_grant();
  grant acquire(const std::string& kind, const std::string& name,
                std::chrono::milliseconds within = std::chrono::seconds{60},
                const std::string& renewal = "automatic");
  void arm(const std::string& fault) { ask("arm " + fault); }  // see <afar/detail/fault.hpp>

  void stop();    // SIGSTOP; returns when it has stopped
  bool stops();   // it stopped by itself; false: not in time
  void resume();  // SIGCONT
  void kill();    // SIGKILL; returns when it is dead and reaped
  bool dies();    // it was killed by SIGKILL; false: not in time, or it ended otherwise
  std::int64_t death() const { return death_; }  // stamp: before the kill, or when its end was seen
  int leave();                                   // tells it to exit; its exit code

 private:
  bool ends();
  void reap();

  pid_t pid_ = 0;
  int to_ = -1;
  int from_ = -1;
  int status_ = 0;
  bool reaped_ = false;
  std::int64_t death_ = 0;
  std::string unread_;
};

std::vector<std::string> words(const std::string& line);

}  // namespace afar::test
