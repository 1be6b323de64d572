#include <afar/counter.hpp>

#include "primitives/report.hpp"

namespace afar {

std::int64_t counter::subtract(std::int64_t n, std::error_code* code) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  if (n != least) return add(-n, {}, code).value_or(0);

  // Minus `least` has no 64 bits, but what comes of it may have.
  auto before = read(code).value_or(initial_);
  while (!(code && *code)) {
    if (before >= 0) {
      detail::report({errc::overflow, std::to_string(before) + " minus " + std::to_string(n)},
                     name(), code);
      return 0;
    }
    if (compare_exchange(before, before - n, code)) return before;
  }
  return 0;
}

}  // namespace afar
