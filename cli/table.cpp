#include "table.hpp"

#include <algorithm>

namespace afar::cli {
namespace {

// Characters, not bytes; wide ones count as one.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

void table::print(std::FILE* out) const {
  std::vector<std::vector<std::string>> lines(1);
  for (const column& c : columns_) lines[0].push_back(c.title);
  lines.insert(lines.end(), rows_.begin(), rows_.end());

  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));

  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string pad(widths[i] - width(line[i]), ' ');
      text += columns_[i].side == align::right ? pad + line[i] : line[i] + pad;
      text += "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    std::fprintf(out, "%s\n", text.c_str());
  }
}

}  // namespace afar::cli
