// Memory that two processes of a measurement share. It has its own sleep and wake-up, so that the
// game does not depend on what is measured.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace bench {

// A number that only grows; processes sleep until it has a value.
class milestone {
 public:
  void raise(std::uint32_t to) noexcept;
  void wait_for(std::uint32_t at_least) noexcept;
  void reset() noexcept { value_.store(0); }

 private:
  std::atomic<std::uint32_t> value_{0};
};

struct board {
  static constexpr std::int64_t most_turns = 20'000;

  milestone granted;  // how many grants there were
  milestone wanted;   // the newest grant that somebody waits for, plus 1
  std::atomic<std::int64_t> unlocked_at{0};
  std::int64_t nanoseconds[most_turns];

  void reset() noexcept {
    granted.reset();
    wanted.reset();
  }
};

// A board in a file; all zero if it is new.
class mapped_board {
 public:
  explicit mapped_board(const std::string& path);
  ~mapped_board();
  mapped_board(const mapped_board&) = delete;
  mapped_board& operator=(const mapped_board&) = delete;
  board* operator->() const noexcept { return board_; }
  board& operator*() const noexcept { return *board_; }

 private:
  board* board_;
};

}  // namespace bench
