// Is there an order of all operations on one value that explains what everybody saw? Each must take effect
// between its request and its answer; one whose answer never came may take effect at any time after its
// request, or never. The search goes through the history in time (Lowe's just-in-time form of Wing and
// Gong's): it keeps every state that the value can be in, with the operations under way that have already
// taken effect in it, each such pair once. Where nothing is under way only states are left, so that a long
// history costs no more than its parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace afar::torture {

enum class deed : std::uint8_t {
  add,     // saw `result`, which is now `amount` more
  take,    // now `amount` more, and not above the limit
  refuse,  // `amount` more would be above the limit
  down,    // now `amount` less, never below zero
  read,    // saw `result`
  pass     // it was zero
};

struct deed_done {
  deed what{};
  std::int64_t amount = 1;
  std::int64_t result = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  bool known = true;  // false: nobody knows whether it happened; `to` and `result` say nothing
};

struct deeds {
  std::int64_t initial = 0;
  std::int64_t limit = 0;  // of take
  std::vector<deed_done> all;
};

struct explanation {
  enum class outcome : std::uint8_t { found, none, too_many };
  outcome is = outcome::found;
  std::optional<deed_done> culprit = {};  // the first answer that no order explains
  std::size_t visited = 0;                // states looked at
};

explanation explain(const deeds&, std::size_t most = 1U << 21);

}  // namespace afar::torture
