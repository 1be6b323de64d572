#include <afar/stock.hpp>

#include "primitives/opened.hpp"
#include "primitives/report.hpp"

#include <utility>

namespace afar {

namespace detail {

class stock_body {
 public:
  stock_body(std::shared_ptr<client_state> c, std::string name)
      : client_(std::move(c)),
        name_(std::move(name)),
        full_name_(owner().options().prefix + name_) {}

  core& owner() const noexcept { return client_->get(); }
  const std::string& name() const noexcept { return name_; }

  spi::ledger_change change(spi::ledger_action action, std::int64_t amount = 0) const {
    spi::ledger_change ch;
    ch.what = {spi::kind::stock, full_name_};
    ch.action = action;
    ch.amount = amount;
    return ch;
  }

 private:
  const std::shared_ptr<client_state> client_;
  const std::string name_;
  const std::string full_name_;
};

}  // namespace detail

namespace {

using detail::report;
using detail::stock_body;
using spi::ledger_action;
using spi::ledger_outcome;
using std::chrono::milliseconds;

constexpr std::size_t longest_id = 256;
constexpr milliseconds shortest_reservation{10};
constexpr milliseconds longest_reservation = std::chrono::hours{24};

// Empty: it failed, and `code` says why.
std::optional<spi::ledger_reply> record(const stock_body& body, spi::status bad,
                                        const spi::ledger_change& change, std::error_code* code) {
  spi::ledger_reply reply;
  if (!bad) bad = body.owner().record(change, reply);
  report(bad, body.name(), code);
  if (bad) return std::nullopt;
  return reply;
}

spi::status check_id(std::string_view what, std::string_view id) {
  if (!id.empty() && id.size() <= longest_id) return {};
  return {errc::bad_argument, std::string{what} + " of " + std::to_string(id.size()) +
                                  " bytes; 1 to " + std::to_string(longest_id) + " are allowed"};
}

spi::status check_order(std::int64_t quantity, std::string_view order, std::string_view buyer) {
  if (quantity <= 0)
    return {errc::bad_argument, "an order of " + std::to_string(quantity) + " units"};
  if (auto bad = check_id("an order id", order)) return bad;
  return buyer.empty() ? spi::status{} : check_id("a buyer", buyer);
}

take_result taken(const std::optional<spi::ledger_reply>& reply) {
  switch (reply ? reply->outcome : ledger_outcome::no_such_stock) {
    case ledger_outcome::done:
      return take_result::taken;
    case ledger_outcome::sold_out:
      return take_result::sold_out;
    case ledger_outcome::not_open_yet:
      return take_result::not_open_yet;
    case ledger_outcome::closed:
      return take_result::closed;
    case ledger_outcome::limit_reached:
      return take_result::limit_reached;
    case ledger_outcome::already_taken:
    case ledger_outcome::no_such_order:
    case ledger_outcome::expired:
      return take_result::already_taken;
    case ledger_outcome::no_such_stock:
      break;
  }
  return take_result::no_such_stock;
}

order_result ordered(const std::optional<spi::ledger_reply>& reply) {
  switch (reply ? reply->outcome : ledger_outcome::no_such_stock) {
    case ledger_outcome::done:
      return order_result::done;
    case ledger_outcome::expired:
      return order_result::expired;
    case ledger_outcome::sold_out:
    case ledger_outcome::not_open_yet:
    case ledger_outcome::closed:
    case ledger_outcome::limit_reached:
    case ledger_outcome::already_taken:
    case ledger_outcome::no_such_order:
      return order_result::no_such_order;
    case ledger_outcome::no_such_stock:
      break;
  }
  return order_result::no_such_stock;
}

std::optional<spi::calendar_time> floored(const std::optional<stock_options::calendar_time>& t) {
  if (!t) return std::nullopt;
  return std::chrono::floor<milliseconds>(*t);
}

void define(const stock_body& body, std::int64_t units, const stock_options& o,
            std::error_code* code) {
  spi::status bad;
  if (units < 0)
    bad = {errc::bad_argument, "a stock of " + std::to_string(units) + " units"};
  else if (o.opens && o.closes && *o.closes <= *o.opens)
    bad = {errc::bad_argument, "it would close before it opens"};
  auto ch = body.change(ledger_action::define, units);
  ch.per_buyer = o.per_buyer;
  ch.open = {floored(o.opens), floored(o.closes)};
  record(body, std::move(bad), ch, code);
}

bool restock(const stock_body& body, std::int64_t units, std::error_code* code) {
  const auto reply = record(body, {}, body.change(ledger_action::restock, units), code);
  return reply && reply->outcome == ledger_outcome::done;
}

take_result buy(const stock_body& body, std::int64_t quantity, std::string_view order,
                std::string_view buyer, std::error_code* code) {
  auto ch = body.change(ledger_action::take, quantity);
  ch.order = order;
  ch.buyer = buyer;
  return taken(record(body, check_order(quantity, order, buyer), ch, code));
}

take_result book(const stock_body& body, std::int64_t quantity, std::string_view order,
                 std::string_view buyer, milliseconds hold_for, std::error_code* code) {
  auto ch = body.change(ledger_action::reserve, quantity);
  ch.order = order;
  ch.buyer = buyer;
  ch.hold_for = hold_for;
  auto bad = check_order(quantity, order, buyer);
  if (!bad && (hold_for < shortest_reservation || hold_for > longest_reservation))
    bad = {errc::bad_argument, "a reservation of " + std::to_string(hold_for.count()) +
                                   " ms; 10 ms to 24 h can be had"};
  return taken(record(body, std::move(bad), ch, code));
}

// commit, cancel and put_back.
order_result settle(const stock_body& body, ledger_action action, std::string_view order,
                    std::error_code* code) {
  auto ch = body.change(action);
  ch.order = order;
  return ordered(record(body, check_id("an order id", order), ch, code));
}

std::optional<stock_levels> load(const stock_body& body, std::error_code* code) {
  const auto reply = record(body, {}, body.change(ledger_action::load), code);
  if (!reply || reply->outcome == ledger_outcome::no_such_stock) return std::nullopt;
  return stock_levels{reply->remaining, reply->reserved, reply->taken};
}

std::optional<std::int64_t> remaining_of(const std::optional<stock_levels>& levels) {
  if (!levels) return std::nullopt;
  return levels->remaining;
}

}  // namespace

std::string_view word(take_result r) noexcept {
  switch (r) {
    case take_result::taken:
      return "taken";
    case take_result::sold_out:
      return "sold_out";
    case take_result::not_open_yet:
      return "not_open_yet";
    case take_result::closed:
      return "closed";
    case take_result::limit_reached:
      return "limit_reached";
    case take_result::already_taken:
      return "already_taken";
    case take_result::no_such_stock:
      return "no_such_stock";
  }
  return "unknown result";
}

std::string_view word(order_result r) noexcept {
  switch (r) {
    case order_result::done:
      return "done";
    case order_result::expired:
      return "expired";
    case order_result::no_such_order:
      return "no_such_order";
    case order_result::no_such_stock:
      return "no_such_stock";
  }
  return "unknown result";
}

stock::stock(const client& c, std::string name)
    : body_(std::make_shared<detail::stock_body>(detail::opened(c, spi::kind::stock, name), name)) {
}

stock::~stock() {
  if (body_->owner().forked()) detail::leak(std::move(body_));
}

const std::string& stock::name() const noexcept { return body_->name(); }

void stock::set(std::int64_t units, stock_options o) { define(*body_, units, o, nullptr); }
void stock::set(std::int64_t units, stock_options o, std::error_code& ec) noexcept {
  define(*body_, units, o, &ec);
}

bool stock::add(std::int64_t units) { return restock(*body_, units, nullptr); }
bool stock::add(std::int64_t units, std::error_code& ec) noexcept {
  return restock(*body_, units, &ec);
}

take_result stock::take(std::int64_t quantity, std::string_view order, std::string_view buyer) {
  return buy(*body_, quantity, order, buyer, nullptr);
}
take_result stock::take(std::int64_t quantity, std::string_view order, std::string_view buyer,
                        std::error_code& ec) noexcept {
  return buy(*body_, quantity, order, buyer, &ec);
}

take_result stock::reserve(std::int64_t quantity, std::string_view order, std::string_view buyer,
                           milliseconds hold_for) {
  return book(*body_, quantity, order, buyer, hold_for, nullptr);
}
take_result stock::reserve(std::int64_t quantity, std::string_view order, std::string_view buyer,
                           milliseconds hold_for, std::error_code& ec) noexcept {
  return book(*body_, quantity, order, buyer, hold_for, &ec);
}

order_result stock::put_back(std::string_view order) {
  return settle(*body_, ledger_action::put_back, order, nullptr);
}
order_result stock::put_back(std::string_view order, std::error_code& ec) noexcept {
  return settle(*body_, ledger_action::put_back, order, &ec);
}

order_result stock::commit(std::string_view order) {
  return settle(*body_, ledger_action::commit, order, nullptr);
}
order_result stock::commit(std::string_view order, std::error_code& ec) noexcept {
  return settle(*body_, ledger_action::commit, order, &ec);
}

order_result stock::cancel(std::string_view order) {
  return settle(*body_, ledger_action::cancel, order, nullptr);
}
order_result stock::cancel(std::string_view order, std::error_code& ec) noexcept {
  return settle(*body_, ledger_action::cancel, order, &ec);
}

std::optional<stock_levels> stock::levels() const { return load(*body_, nullptr); }
std::optional<stock_levels> stock::levels(std::error_code& ec) const noexcept {
  return load(*body_, &ec);
}

std::optional<std::int64_t> stock::remaining() const { return remaining_of(levels()); }
std::optional<std::int64_t> stock::remaining(std::error_code& ec) const noexcept {
  return remaining_of(levels(ec));
}

void stock::erase() { record(*body_, {}, body_->change(ledger_action::erase), nullptr); }
void stock::erase(std::error_code& ec) noexcept {
  record(*body_, {}, body_->change(ledger_action::erase), &ec);
}

}  // namespace afar
