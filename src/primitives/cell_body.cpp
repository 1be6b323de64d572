#include "primitives/cell_body.hpp"

#include <utility>

namespace afar::detail {
namespace {

using until = cell_request::until;

cell_request waiting(cell_request r, until goal, const deadline& by, std::stop_token stop) {
  r.goal = goal;
  r.by = by;
  r.stop = std::move(stop);
  return r;
}

}  // namespace

cell_body::cell_body(std::shared_ptr<client_state> c, spi::kind kind, std::string name,
                     std::optional<std::int64_t> initial)
    : client_(std::move(c)),
      kind_(kind),
      name_(std::move(name)),
      full_name_(std::make_shared<const std::string>(owner().options().prefix + name_)),
      initial_(initial) {}

cell_request cell_body::request(spi::cell_action action, std::int64_t operand) const {
  cell_request r;
  r.name = full_name_;
  r.change.what.kind = kind_;
  r.change.action = action;
  r.change.operand = operand;
  r.change.initial = initial_;
  return r;
}

cell_request cell_body::add(std::int64_t n, cell_range range) const {
  auto r = request(spi::cell_action::add, n);
  r.change.min = range.min;
  r.change.max = range.max;
  return r;
}

cell_request cell_body::store(std::int64_t v) const { return request(spi::cell_action::store, v); }

cell_request cell_body::compare_exchange(std::int64_t expected, std::int64_t desired) const {
  auto r = request(spi::cell_action::compare_exchange, desired);
  r.change.expected = expected;
  return r;
}

cell_request cell_body::wait_add(std::int64_t n, cell_range range, deadline by,
                                 std::stop_token stop) const {
  return waiting(add(n, range), until::applied, by, std::move(stop));
}

cell_request cell_body::wait_change(std::int64_t old, deadline by, std::stop_token stop) const {
  return waiting(request(spi::cell_action::load, old), until::changed, by, std::move(stop));
}

cell_request cell_body::wait_zero(deadline by, std::stop_token stop) const {
  return waiting(load(), until::zero, by, std::move(stop));
}

}  // namespace afar::detail
