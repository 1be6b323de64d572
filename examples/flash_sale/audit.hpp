// What became of a sale, read from the tables and from the stock, not from what the workers said.
#pragma once

#include "sale.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sale {

struct audit {
  std::int64_t orders = 0;
  std::int64_t oversold = 0;       // orders beyond the units there were
  std::int64_t twice = 0;          // buyers with more than one order
  std::int64_t without_stock = 0;  // orders for which no unit was taken away
  std::int64_t lost = 0;           // units taken away without an order
  std::int64_t left = 0;

  audit& operator+=(const audit&);
  bool right() const { return oversold == 0 && twice == 0 && without_stock == 0 && lost == 0; }
};
audit look(const plan&, way);

// Opens small sales to get each of the four refusals, and to be overtaken. What was wrong; nothing: all
// answers were right.
std::vector<std::string> check_answers(plan, way);

}  // namespace sale
