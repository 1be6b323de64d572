// MySQL and MariaDB, by libmariadb. Keeps to what both understand.
#pragma once

#include "engines/sql/address.hpp"
#include "engines/sql/connection.hpp"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace afar::engines::sql::mysql {

// Throws failure; lock_error if the library is missing.
std::unique_ptr<connection> connect(const target&, const spi::url::host&, spi::time_point by);

std::string_view text_of(statement) noexcept;
// The same as libmariadb wants it: with ? for each parameter, and which one stands at which of them.
struct numbered {
  std::string text = {};
  std::vector<std::size_t> order = {};
};
const numbered& numbered_text(statement);
std::span<const std::string_view> schema() noexcept;
inline constexpr const char* clock_query =
    "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
inline constexpr const char* version_query =
    "SELECT COUNT(*) FROM information_schema.tables"
    " WHERE table_schema = DATABASE() AND table_name = 'afar_schema'";

}  // namespace afar::engines::sql::mysql
