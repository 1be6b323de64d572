// A hold: one granted claim, released when it goes out of scope.
#pragma once

#include <afar/boot_clock.hpp>
#include <afar/detail/export.hpp>
#include <afar/observer.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>

namespace afar {

namespace detail {
class hold_state;
}

enum class renewal : std::uint8_t {
  automatic,  // the lease is renewed while the hold lives
  off         // the hold ends when its lease does
};

// How to acquire; every field may be left out.
struct acquire_options {
  std::optional<std::chrono::milliseconds> lease = {};  // 10 ms to 24 h; else the client's
  renewal renew = renewal::automatic;
  std::stop_token stop = {};  // gives up waiting with errc::cancelled
};

// Move-only. A hold ends in two ways: released (by you) or lost (by time). Loss cannot be prevented,
// only noticed: watch lost(), ask valid(), and pass token() to the store that you write to so that it
// can refuse smaller ones (afar::fence). A hold keeps its client open.
class AFAR_API hold {
 public:
  hold() noexcept;
  explicit hold(std::shared_ptr<detail::hold_state>) noexcept;
  hold(hold&&) noexcept;
  hold& operator=(hold&&) noexcept;
  ~hold();  // releases without waiting for the answer

  // True while it holds something that was neither released nor found lost.
  explicit operator bool() const noexcept { return valid(); }

  // False from the moment at which another may hold it, also in the first call after a pause; final.
  bool valid() const noexcept;

  // Until when valid() is true if no renewal succeeds: counted from the send of the last confirmed
  // request, less the margin.
  boot_clock::time_point valid_until() const noexcept;

  // The fencing token: larger than that of every earlier hold of the name. 0 for an empty hold.
  std::uint64_t token() const noexcept;

  // Stop is requested before anybody else can get what is held. Callbacks run on a thread of afar.
  std::stop_token lost() const noexcept;
  loss_reason why() const noexcept;  // set before lost() fires

  // The name as the user gave it.
  const std::string& name() const noexcept;

  // Releases and waits for the answer. errc::lost: it was gone before; errc::unknown_outcome: the
  // engine did not answer, the lease will end it; errc::not_owner: empty. Afterwards it is empty.
  void release();
  void release(std::error_code&) noexcept;

  const std::shared_ptr<detail::hold_state>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::hold_state> state_;
};

}  // namespace afar
