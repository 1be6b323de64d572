// PostgreSQL, by libpq.
#pragma once

#include "engines/sql/address.hpp"
#include "engines/sql/connection.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace afar::engines::sql::postgres {

// Throws failure; lock_error if the library is missing.
std::unique_ptr<connection> connect(const target&, const spi::url::host&, spi::time_point by);

std::string_view text_of(statement) noexcept;
std::span<const std::string_view> schema() noexcept;
inline constexpr const char* version_query =
    "SELECT CASE WHEN to_regclass('afar_schema') IS NULL THEN 0 ELSE 1 END";

}  // namespace afar::engines::sql::postgres
