// Columns for people: as wide as their widest cell, two blanks between them.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace afar::cli {

enum class align : unsigned char { left, right };

class table {
 public:
  struct column {
    std::string title;
    align side = align::left;
  };
  explicit table(std::vector<column> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns; cells are UTF-8 without control characters.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  void print(std::FILE*) const;

 private:
  std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace afar::cli
