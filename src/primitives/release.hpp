// How holds end, whoever kept them.
#pragma once

#include "core/hold_state.hpp"

#include <memory>
#include <optional>

namespace afar::detail {

// Releases and does not wait for the answer. Null is fine. In a forked child: leaks it.
void release(hold_ptr) noexcept;

// A release whose answer somebody wants to know. In a forked child: errc::forked, and leaks it.
class awaited_release {
 public:
  explicit awaited_release(hold_ptr);  // sends it

  // Waits for as long as the client has patience: errc::lost, errc::unknown_outcome …
  spi::status wait();

 private:
  std::shared_ptr<client_state> client_;  // dropped last: it may close the client
  hold_ptr state_;
  std::optional<spi::status> known_;  // before wait()
};

}  // namespace afar::detail
