// Text that ends up in terminals and logs: names and answers may hold any byte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace afar::detail {

// Bytes that are control characters or no UTF-8 become \xNN; what is longer than `most` bytes is cut
// and ends in "...".
std::string visible(std::string_view, std::size_t most);

}  // namespace afar::detail
