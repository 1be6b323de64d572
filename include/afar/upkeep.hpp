// Looking after an engine: is it fit to hold locks, and what can be cleared away.
#pragma once

#include <afar/client.hpp>

#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

namespace afar {

// Something a person should know before he trusts an engine.
struct finding {
  enum class grade : std::uint8_t {
    ok,
    warning,  // it works, but not as one may expect
    failure   // it will not keep its promises
  };
  grade how = grade::ok;
  std::string topic;    // one word: "space"
  std::string text;     // what was found
  std::string way_out;  // what to do about it; empty if nothing is to be done
};

// What the engine can tell of its own state and settings, in its own order. Changes nothing. What
// makes an engine unusable is found when its client is opened. Throws lock_error if it cannot tell.
AFAR_API std::vector<finding> examine(const client&);
AFAR_API std::vector<finding> examine(const client&, std::error_code&) noexcept;

// Clears away at once what engines clear away in passing: holds of dead processes, names that nobody
// uses any more, orders of erased stock. Returns how many records were removed. Nothing that is in
// use is touched. Never necessary; it gives room back.
AFAR_API std::uint64_t collect(const client&);
AFAR_API std::uint64_t collect(const client&, std::error_code&) noexcept;

}  // namespace afar
