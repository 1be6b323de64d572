// A verdict for people, for programs and as a page.
#pragma once

#include "torture/torture.hpp"

#include <string>

namespace afar::torture {

std::string as_text(const verdict&, const std::string& replay);
std::string as_json(const verdict&, const std::string& replay);
// One file without anything from elsewhere; with a picture of what happened around the first violation,
// or around the first fault if there is none.
std::string as_page(const verdict&, const std::string& replay);

}  // namespace afar::torture
