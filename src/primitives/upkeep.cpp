#include <afar/upkeep.hpp>

#include "core/client_state.hpp"
#include "primitives/report.hpp"

namespace afar {
namespace {

std::string url_of(const client& c) { return c.state() ? c.url() : std::string{}; }

spi::status never_opened() { return {errc::closed, "this client was never opened"}; }

std::vector<finding> examine_it(const client& c, std::error_code* code) {
  std::vector<finding> found;
  detail::report(c.state() ? c.state()->get().examine(found) : never_opened(), url_of(c), code);
  return found;
}

std::uint64_t collect_it(const client& c, std::error_code* code) {
  std::uint64_t records = 0;
  detail::report(c.state() ? c.state()->get().collect(records) : never_opened(), url_of(c), code);
  return records;
}

}  // namespace

std::vector<finding> examine(const client& c) { return examine_it(c, nullptr); }
std::vector<finding> examine(const client& c, std::error_code& ec) noexcept {
  return examine_it(c, &ec);
}

std::uint64_t collect(const client& c) { return collect_it(c, nullptr); }
std::uint64_t collect(const client& c, std::error_code& ec) noexcept { return collect_it(c, &ec); }

}  // namespace afar
