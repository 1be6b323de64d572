#include <afar/latch.hpp>

#include "primitives/cell_body.hpp"
#include "primitives/report.hpp"

#include <utility>

namespace afar {
namespace {

using detail::report;

spi::status negative(std::ptrdiff_t n) {
  if (n >= 0) return {};
  return {errc::bad_argument, "a latch does not count " + std::to_string(n)};
}

}  // namespace

latch::latch(const client& c, std::string name, std::ptrdiff_t expected)
    : cell(c, detail::cell_kind::latch, std::move(name), expected) {
  report(negative(expected), this->name(), nullptr);
}

latch::latch(const client& c, std::string name)
    : cell(c, detail::cell_kind::latch, std::move(name), std::nullopt) {}

void latch::down(std::ptrdiff_t n, std::error_code* code) {
  if (auto bad = negative(n)) return report(bad, name(), code);
  spi::cell_reply reply;
  auto s = body_->owner().change(body_->add(-n, {}), reply);
  if (!s && !reply.exists && !body_->initial())
    s = {errc::wrong_use, "nobody has set its count yet"};
  report(s, name(), code);
}

std::optional<std::ptrdiff_t> latch::remaining() const { return read(nullptr); }
std::optional<std::ptrdiff_t> latch::remaining(std::error_code& ec) const noexcept {
  return read(&ec);
}

}  // namespace afar
