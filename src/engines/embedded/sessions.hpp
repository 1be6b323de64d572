// Who is alive. Every process keeps a kernel lock on a file of its own for as long as it lives, and
// anybody can test it: death is seen at once, however the process died.
//
// Invariants
//   1. A session's file is never seen unlocked while its process lives: it gets its name after its
//      lock.
//   2. A process never opens its own session's file again: POSIX locks go with the first close.
//      (They are used because flock and OFD locks live on in forked children.)
//   3. Ids are not reused, so a file that is gone, or unlocked, means dead for ever.
#pragma once

#include "engines/embedded/file.hpp"
#include "engines/records/claims.hpp"

#include <afar/boot_clock.hpp>

#include <chrono>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace afar::engines::embedded {

using records::session_id;

// The process that a session was begun by, in its own pid namespace.
constexpr std::int64_t pid_of(session_id id) noexcept {
  return static_cast<std::int64_t>(id >> 42U);
}

// Whether another process keeps a lock on a session's file; true if it cannot be told.
bool locked_by_another(int file);

class sessions {
 public:
  // Begins this process's session in an existing folder. Throws failure.
  explicit sessions(std::string path);
  sessions(const sessions&) = delete;
  sessions& operator=(const sessions&) = delete;
  ~sessions();  // ends it

  session_id own() const noexcept { return own_; }
  // Whether that process lives. An answer "alive" may be 5 ms old; what cannot be tested counts as
  // alive, and its leases end it.
  bool alive(session_id);
  // Whether this process still counts as alive: somebody may have removed the folder.
  bool present() const noexcept;

  // Sessions found dead since the last call. The caller forgets them, then calls bury().
  std::vector<session_id> take_dead();
  void bury(session_id) noexcept;
  // Looks at every file there is; the dead ones are in take_dead() then.
  void look_around();

 private:
  struct watched {
    unique_fd file;
    boot_clock::time_point checked{};
  };
  bool same_process(session_id) const noexcept;
  bool test(session_id, boot_clock::time_point now);  // under mutex_
  std::string file_of(session_id) const;
  void begin();

  const std::string path_;
  session_id own_ = 0;
  unique_fd file_;

  std::mutex mutex_;
  std::unordered_map<session_id, watched> watched_;
  std::vector<session_id> dead_;
};

}  // namespace afar::engines::embedded
