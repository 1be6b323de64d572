// What the two processes of `afar run` tell each other, over a pair of sockets whose closing tells
// that the other one is gone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace afar::cli {

struct news {
  enum class what : std::uint8_t {
    signal,   // front to keeper: number
    stopped,  // keeper to front: the command, or the wait, has stopped
    started   // command to front: its process id; 0: it could not be started
  };
  what kind{};
  std::int32_t number = 0;
};

class wire {
 public:
  explicit wire(int fd) noexcept : fd_(fd) {}
  wire(const wire&) = delete;
  wire& operator=(const wire&) = delete;
  ~wire();

  int file() const noexcept { return fd_; }
  void send(news) const noexcept;             // the other one may be gone; that is seen elsewhere
  std::optional<news> next() noexcept;        // none: nothing there now
  bool cut() const noexcept { return cut_; }  // the other one is gone

 private:
  int fd_;
  bool cut_ = false;
};

struct two_ends {
  int front = -1;
  int keeper = -1;
};
two_ends make_wire();  // throws failure

}  // namespace afar::cli
