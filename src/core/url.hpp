// Reads engine URLs and the values in their query. Errors never contain the password.
#pragma once

#include <afar/spi/url.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace afar::detail {

// scheme:path | scheme://[user[:password]@]host[:port][,host…][/path][?key=value[&…]]
// Percent-decodes user, password, path and query. Throws lock_error(errc::bad_url).
spi::url parse_url(std::string_view text);

// "250ms", "10s", "5m", "24h"; a bare number is seconds. Throws lock_error(errc::bad_url, key …).
std::chrono::milliseconds parse_duration(std::string_view key, std::string_view text);
std::uint32_t parse_number(std::string_view key, std::string_view text);

}  // namespace afar::detail
