// What a bell says to a claim that was granted while it waited: "<owner> <token> <ms> <more>", more being
// the tokens for hand-over inside the client. The same words as on Redis.
#pragma once

#include "engines/records/claims.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace afar::engines::sql {

std::string text_of(const records::direct_grant&);
// Nothing: it says something else, or nothing at all.
std::optional<records::direct_grant> grant_of(std::string_view text) noexcept;

}  // namespace afar::engines::sql
