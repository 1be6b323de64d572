// The command as a process group: started, stopped, continued, ended.
#pragma once

#include "signals.hpp"
#include "terminal.hpp"
#include "wire.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace afar::cli {

class child {
 public:
  struct surroundings {
    std::string name;  // AFAR_NAME, AFAR_TOKEN, AFAR_HOLDER
    std::uint64_t token = 0;
    std::string holder;
  };

  // Starts it in a new group, in the foreground of the terminal if that is plain, and tells the front
  // of it. Throws failure: 126, 127. It is killed if the caller's thread dies.
  child(const std::vector<std::string>& command, const surroundings&, const signals&,
        const terminal&, const wire& front);
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  pid_t group() const noexcept { return group_; }
  void send(int signal) const noexcept;

  // Looks at everything that has ended or stopped, orphans of the group included. Returns the signal
  // that stopped the command, 0 if none did.
  int look();
  bool ended() const noexcept { return ended_; }
  bool group_gone() const noexcept;  // nobody of the group is left, zombies included
  int code() const noexcept;         // of the exit, once ended

 private:
  pid_t group_ = 0;
  bool ended_ = false;
  int status_ = 0;
};

}  // namespace afar::cli
