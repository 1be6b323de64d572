// What a client tells whoever wants to know: metrics, logs, the recorder of the torture tests.
#pragma once

#include <afar/boot_clock.hpp>
#include <afar/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace afar {

// Why a hold ended before its release.
enum class loss_reason : std::uint8_t {
  none,
  expired,      // the lease ran out before a renewal was confirmed
  evicted,      // somebody broke it
  asked,        // somebody asks for it back
  session,      // the engine ended this client's session
  unreachable,  // the engine did not answer in time
  closed        // the client was closed
};
AFAR_API std::string_view word(loss_reason) noexcept;

struct event {
  enum class kind : std::uint8_t {
    asking,     // before the request leaves
    acquired,   // token, waited
    refused,    // not got: timed out, cancelled or failed (code)
    renewed,    // left: what remained of the lease when the renewal was confirmed
    lost,       // reason
    releasing,  // before the request leaves
    released,
    release_failed,  // code
    misused          // unlock with nothing held
  };
  kind what{};
  std::string_view name = {};
  std::uint64_t token = 0;
  boot_clock::time_point at{};
  std::chrono::nanoseconds waited{};
  std::chrono::nanoseconds left{};
  std::chrono::milliseconds lease{};
  loss_reason reason = loss_reason::none;
  std::error_code code = {};
};

// Called from any thread, concurrently, inside afar's calls: return soon, call nothing of afar.
// The event's views are valid during the call only.
class AFAR_API observer {
 public:
  virtual ~observer();
  virtual void on(const event&) noexcept = 0;
};

}  // namespace afar
