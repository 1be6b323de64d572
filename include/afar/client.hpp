// A client: one connection to one engine, shared by all primitives that are made from it.
#pragma once

#include <afar/detail/export.hpp>
#include <afar/error.hpp>
#include <afar/observer.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace afar {

namespace detail {
class client_state;
}

// What an engine must offer; opening a client that cannot keep it fails with errc::unsupported.
enum class guarantee : std::uint8_t {
  none = 0,
  fifo = 1,               // waiters are served in the order in which they came
  fenced = 2,             // every hold has a token larger than all earlier ones of its name
  survives_restart = 4,   // state survives a restart of the engine
  survives_failover = 8,  // no second holder when a replica takes over
};
constexpr guarantee operator|(guarantee a, guarantee b) noexcept {
  return static_cast<guarantee>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool has(guarantee set, guarantee one) noexcept {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(one)) != 0;
}

// An option that is not set here is taken from the URL's query (?lease=10s&prefix=app/), else it has
// the default that is named beside it.
struct client_options {
  std::optional<std::chrono::milliseconds> lease = {};   // 30 s; how long a silent holder keeps it
  std::optional<std::chrono::milliseconds> margin = {};  // lease/100 + 2 ms; lost() fires so early
  std::optional<std::chrono::milliseconds> patience = {};  // 10 s; retries of an absent engine
  std::optional<std::uint32_t> handoff = {};  // 16; hand-overs inside this client in a row, 0: none
  // 0: off; at most 100 ms. A mutex that this client locks again and again stays with it for so long
  // after unlock(), and is locked again without asking the server. Others who want it ask for it back. See
  // "Sticky leases" in docs/guarantees.md before you turn it on; one Redis server only.
  std::optional<std::chrono::milliseconds> sticky = {};
  std::optional<std::string> prefix = {};   // ""; put before every name
  std::optional<std::string> label = {};    // ""; shown to others beside host, pid and command
  std::optional<std::string> command = {};  // the program's name; shown to others
  std::optional<guarantee> require = {};    // none; refuse at open instead of surprising later
  std::shared_ptr<afar::observer> observer = {};  // none; told what happens, see observer.hpp
  std::chrono::milliseconds connect_timeout{5'000};
};

struct statistics {
  std::uint64_t acquired = 0;   // grants, local hand-offs included
  std::uint64_t handed_on = 0;  // grants without a step of the engine (local hand-off)
  std::uint64_t reused = 0;     // grants without a step of the engine (sticky lease)
  std::uint64_t reentered = 0;
  std::uint64_t waited = 0;  // acquisitions that were refused at first
  std::uint64_t timed_out = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t renewed = 0;
  std::uint64_t lost = 0;
  std::uint64_t released = 0;
  std::uint64_t release_failed = 0;  // given up; the lease ends it
  std::uint64_t retried = 0;         // steps repeated after a failure of the engine
  std::uint64_t misused = 0;         // unlock with nothing held
  std::uint64_t steps = 0;           // requests to the engine
};

// Cheap to copy; copies share the connection. Safe for concurrent use. The connection is closed when
// the last copy, primitive and hold is gone; releases that are under way get a second to finish.
class AFAR_API client {
 public:
  // This machine, no server: the embedded engine. The same as client{"local:"}.
  client();

  // Connects (at most connect_timeout) or throws lock_error. Schemes: memory:, local:, file://…
  explicit client(std::string_view url, client_options = {});
  client(std::string_view url, client_options, std::error_code&) noexcept;

  client(const client&) noexcept;
  client(client&&) noexcept;
  client& operator=(const client&) noexcept;
  client& operator=(client&&) noexcept;
  ~client();

  statistics stats() const noexcept;

  // Ends every wait with errc::closed and every hold with loss reason `closed` after its release was
  // sent. Later calls fail with errc::closed. Idempotent.
  void close() noexcept;

  // The URL as it may be printed: without its password.
  const std::string& url() const noexcept;

  const std::shared_ptr<detail::client_state>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::client_state> state_;
};

}  // namespace afar
