#include <afar/counter.hpp>

#include "primitives/cell_body.hpp"
#include "primitives/report.hpp"

namespace afar {
namespace {

constexpr auto least = std::numeric_limits<std::int64_t>::min();

}  // namespace

std::int64_t counter::fetch_sub(std::int64_t n) {
  if (n != least) return fetch_add(-n);
  throw lock_error(errc::overflow, name(), "minus the least number has no 64 bits");
}

std::int64_t counter::fetch_sub(std::int64_t n, std::error_code& ec) noexcept {
  if (n != least) return fetch_add(-n, ec);
  ec = errc::overflow;
  return 0;
}

}  // namespace afar
