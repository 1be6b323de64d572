// A call that may ask the engine before its operation is enlisted, or without one. Closing waits for
// it, so that nothing is left in an engine that is closed. It begins before the call looks whether
// the client is closed, and ends before anything of the user's is called.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace afar::detail {

class arrival {
 public:
  using count = std::atomic<std::int64_t>;

  arrival() noexcept = default;
  explicit arrival(count& c) noexcept : count_(&c) { c.fetch_add(1); }
  arrival(arrival&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  arrival& operator=(arrival&&) = delete;
  ~arrival() { end(); }

  void end() noexcept {
    if (count_) std::exchange(count_, nullptr)->fetch_sub(1);
  }

 private:
  count* count_ = nullptr;
};

}  // namespace afar::detail
