// What a client runs with: client_options, the URL's query and the defaults made one (the struct wins).
#pragma once

#include <afar/client.hpp>
#include <afar/spi/engine.hpp>
#include <afar/spi/url.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace afar::detail {

using std::chrono::milliseconds;

inline constexpr milliseconds shortest_lease{10};
inline constexpr milliseconds longest_lease{24 * 60 * 60 * 1000};
inline constexpr milliseconds longest_patience{24 * 60 * 60 * 1000};
inline constexpr std::uint32_t most_handoffs = 10'000;
inline constexpr milliseconds longest_linger{100};
inline constexpr std::size_t longest_name = 1'024;
inline constexpr std::size_t longest_prefix = 512;  // leaves room for names

struct settings {
  milliseconds lease{30'000};
  std::optional<milliseconds> margin = {};  // none: lease/100 + 2 ms
  milliseconds patience{10'000};
  std::uint32_t handoff = 16;
  milliseconds streak{
      10};  // hand-overs in a row end after so long, so that other processes get a turn
  milliseconds sticky{0};  // how long a mutex stays with the client after its last use; 0: not
  std::string prefix;
  std::string note;  // host, pid, user, command, label, as every claim of this client carries them
  guarantee require = guarantee::none;
  std::shared_ptr<afar::observer> observer;
  std::string url;  // printable

  milliseconds margin_of(milliseconds l) const noexcept {
    return margin.value_or(l / 100 + milliseconds{2});
  }
};

// Takes the keys that are the client's (lease margin patience handoff sticky prefix label command require)
// out of where.options. Throws lock_error: errc::bad_url / errc::bad_argument, naming key, value and range.
settings make_settings(const client_options&, spi::url& where);

// Throw lock_error(errc::bad_argument) that says what is allowed.
void check_name(std::string_view name);  // 1 to 1,024 bytes, any byte
void check_lease(milliseconds, std::string_view name);

// errc::unsupported, naming what the engine lacks.
void check_guarantees(guarantee wanted, const spi::traits&, std::string_view url);
// errc::unsupported where it is wanted and the engine cannot.
void check_sticky(milliseconds wanted, const spi::traits&, std::string_view url);

}  // namespace afar::detail
