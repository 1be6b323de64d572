// Text inside of HTML and SVG, for pages that programs write: not inside of attributes.
#pragma once

#include <string>
#include <string_view>

namespace afar::torture {

inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

}  // namespace afar::torture
