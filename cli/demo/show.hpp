// What the user sees: one live line on a terminal, plain lines elsewhere, and a table at the end.
#pragma once

#include "demo/audit.hpp"

#include <cstdint>
#include <string>

namespace afar::cli::demo {

class display {
 public:
  explicit display(const options&);

  void begin(const place&);
  // Called often; decides itself when to print.
  void progress(double elapsed, const team::totals&, std::size_t kills, std::size_t pauses);
  void end(const results&);

 private:
  void table(const results&) const;
  void json(const results&) const;

  const options& wanted_;
  bool terminal_;
  double next_ = 0;
};

}  // namespace afar::cli::demo
