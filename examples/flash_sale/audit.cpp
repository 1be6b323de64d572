#include "audit.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace sale {
namespace {

std::int64_t number(const rows& r) { return std::atoll(r.at(0).at(0).c_str()); }

}  // namespace

audit& audit::operator+=(const audit& more) {
  orders += more.orders;
  oversold += more.oversold;
  twice += more.twice;
  without_stock += more.without_stock;
  lost += more.lost;
  left += more.left;
  return *this;
}

audit look(const plan& p, way w) {
  const auto db = database::open(p.orders_url);
  audit a;
  a.orders = number(db->run("SELECT count(*) FROM flash_sale_order"));
  a.twice =
      number(db->run("SELECT count(*) FROM (SELECT buyer FROM flash_sale_order GROUP BY buyer"
                     " HAVING count(*) > 1) AS twice"));
  a.oversold = std::max<std::int64_t>(0, a.orders - p.units);
  std::int64_t taken = 0;
  if (w == way::stock) {
    const afar::client c{p.stock_url};
    afar::stock stock{c, p.name};
    const auto levels = stock.levels().value_or(afar::stock_levels{});
    a.left = levels.remaining;
    taken = levels.taken;
    // To ask for an order once more takes nothing and says whether it was taken: order by order.
    for (const auto& row : db->run("SELECT buyer FROM flash_sale_order"))
      if (stock.take(1, row.at(0), row.at(0)) != afar::take_result::taken) ++a.without_stock;
    if (stock.remaining() != a.left || taken + a.left != p.units) ++a.lost;
  } else {
    a.left = number(db->run("SELECT units FROM flash_sale_voucher WHERE id = 1"));
    taken = p.units - a.left;
  }
  a.without_stock = std::max(a.without_stock, a.orders - taken);
  a.lost = std::max(a.lost, taken - a.orders);
  return a;
}

std::vector<std::string> check_answers(plan p, way w) {
  std::vector<std::string> wrong;
  const auto expect = [&](bool right, const char* what) {
    if (!right) wrong.push_back(std::string{word(w)} + ": " + what);
  };
  const auto ask = [&](int opens, int closes) {
    p.opens_in_s = opens;
    p.closes_in_s = closes;
    open_sale(p, w);
    counter_desk desk{p, w, 0};
    return shop{desk}.buy(1);
  };
  p.name += "/answers";
  p.units = 2;
  expect(ask(3'600, 7'200) == outcome::not_open_yet, "sells before it opens");
  expect(ask(-7'200, -3'600) == outcome::over, "sells after it closed");
  expect(ask(-3'600, 3'600) == outcome::bought, "does not sell");
  auto desk = std::make_unique<counter_desk>(p, w, 0);
  shop here{*desk};
  expect(here.buy(1) == outcome::already_bought, "sells to one buyer twice");
  expect(here.buy(2) == outcome::bought, "does not sell the last one");
  expect(here.buy(3) == outcome::sold_out, "sells what there is not");
  expect(look(p, w).right() && look(p, w).orders == 2, "has its sums wrong");

  if (w == way::stock) {  // a process that was replaced while it stalled
    open_sale(p, w);
    auto stalls = std::make_unique<counter_desk>(p, w, 7);
    shop old{*stalls};
    database::open(p.orders_url)
        ->run("UPDATE flash_sale_worker SET fence = fence + 1 WHERE id = 7");  // by its successor
    bool refused = false;
    try {
      old.buy(1);
    } catch (const overtaken&) {
      refused = true;
    }
    expect(refused && look(p, w).orders == 0, "writes the order of a worker that was replaced");
    stalls.reset();
    counter_desk next{p, w, 7};
    expect(shop{next}.buy(1) == outcome::bought && look(p, w).right(),
           "loses the unit of a worker that was replaced");
  }
  desk.reset();
  close_sale(p);
  return wrong;
}

}  // namespace sale
