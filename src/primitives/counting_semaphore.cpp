#include <afar/counting_semaphore.hpp>

#include "primitives/report.hpp"

#include <utility>

namespace afar::detail {
namespace {

spi::status out_of(std::ptrdiff_t n, std::ptrdiff_t most) {
  if (n >= 0 && n <= most) return {};
  return {errc::bad_argument, std::to_string(n) + " is not in 0 to " + std::to_string(most)};
}

}  // namespace

semaphore_cell::semaphore_cell(const client& c, std::string name, std::ptrdiff_t initial,
                               std::ptrdiff_t most)
    : cell(c, cell_kind::semaphore, std::move(name), initial), initial_(initial), most_(most) {
  report(out_of(initial, most), this->name(), nullptr);
}

bool semaphore_cell::down(deadline by, std::stop_token stop, std::error_code* code) {
  return wait_add(-1, {.min = 0}, by, std::move(stop), code);
}

void semaphore_cell::up(std::ptrdiff_t n, std::error_code* code) {
  if (n < 0) return report({errc::bad_argument, "a release of " + std::to_string(n)}, name(), code);
  const bool applied = add(n, {.max = most_}, code).has_value();
  if (!applied && !(code && *code))
    report({errc::overflow, "above " + std::to_string(most_)}, name(), code);
}

std::ptrdiff_t semaphore_cell::available() const { return read(nullptr).value_or(initial_); }
std::ptrdiff_t semaphore_cell::available(std::error_code& ec) const noexcept {
  return read(&ec).value_or(0);
}

}  // namespace afar::detail
