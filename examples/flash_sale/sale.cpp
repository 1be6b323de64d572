#include "sale.hpp"

#include <afar/sql.hpp>

#include <chrono>
#include <cstdlib>
#include <mutex>

namespace sale {
namespace {

using namespace std::chrono_literals;

std::int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// A database that says "deadlock" or "busy" wants to be asked again.
template <class Work>
outcome insistently(Work work) {
  for (int tries = 1;; ++tries) {
    try {
      return work();
    } catch (const database_error& e) {
      if (!e.again || tries == 50) throw;
    }
  }
}

}  // namespace

const char* word(way w) {
  switch (w) {
    case way::unprotected:
      return "no protection";
    case way::lock_per_buyer:
      return "mutex per buyer";
    case way::lock_per_voucher:
      return "mutex per voucher";
    case way::stock:
      return "afar::stock";
  }
  return "";
}

void open_sale(const plan& p, way w) {
  close_sale(p);
  const auto db = database::open(p.orders_url);
  db->run(
      "CREATE TABLE flash_sale_voucher (id INTEGER PRIMARY KEY, units BIGINT NOT NULL,"
      " opens_ms BIGINT NOT NULL, closes_ms BIGINT NOT NULL, fence BIGINT NOT NULL DEFAULT 0)");
  // Where nothing else keeps a buyer from having two orders, the key would: then it would not be the
  // way that is shown. With a lock per buyer it is the last check, for who was overtaken; with a stock
  // it makes the order repeatable.
  const bool keyed = w == way::lock_per_buyer || w == way::stock;
  db->run(std::string{"CREATE TABLE flash_sale_order (buyer BIGINT NOT NULL"} +
          (keyed ? " PRIMARY KEY" : "") + ", worker INTEGER NOT NULL)");
  if (!keyed) db->run("CREATE INDEX flash_sale_by_buyer ON flash_sale_order (buyer)");
  db->run("CREATE TABLE flash_sale_worker (id INTEGER PRIMARY KEY, fence BIGINT NOT NULL)");
  db->run("INSERT INTO flash_sale_voucher VALUES (1, " + std::to_string(p.units) + ", " +
          std::to_string(now_ms() + p.opens_in_s * 1'000LL) + ", " +
          std::to_string(now_ms() + p.closes_in_s * 1'000LL) + ", 0)");
  const auto now = std::chrono::system_clock::now();
  const afar::client c{p.stock_url};
  afar::stock{c, p.name}.set(p.units, {.per_buyer = 1,
                                       .opens = now + std::chrono::seconds{p.opens_in_s},
                                       .closes = now + std::chrono::seconds{p.closes_in_s}});
}

void close_sale(const plan& p) {
  const auto db = database::open(p.orders_url);
  for (const char* table : {"flash_sale_voucher", "flash_sale_order", "flash_sale_worker"})
    db->run(std::string{"DROP TABLE IF EXISTS "} + table);
  const afar::client c{p.stock_url};
  afar::stock{c, p.name}.erase();
}

// The new token is made known before anything else: from then on the table refuses what a process of
// this number that was thought dead still has on the way.
counter_desk::counter_desk(const plan& p, way w, int number)
    : what(p), how(w), worker(number), client(p.stock_url, {.lease = lease}) {
  if (how != way::stock) return;
  number_ = std::make_unique<afar::mutex>(client, p.name + "/worker/" + std::to_string(number));
  held_.emplace(number_->acquire());
  const auto db = database::open(p.orders_url);
  const std::string id = std::to_string(worker);
  db->run(db->insert_if_absent("flash_sale_worker", id + ", 0"));
  db->run("UPDATE flash_sale_worker SET " + afar::sql::fence_set("fence", token()) +
          " WHERE id = " + id + " AND " + afar::sql::fence_check("fence", token()));
  if (db->changed == 0) throw overtaken{"another process has this number"};
}

shop::shop(counter_desk& d)
    : desk_(d), orders_(database::open(d.what.orders_url)), stock_(d.client, d.what.name) {}

outcome shop::buy(int buyer) {
  switch (desk_.how) {
    case way::unprotected:
      return insistently([&] { return unprotected(buyer); });
    case way::lock_per_buyer:
      return by_lock_of_buyer(buyer);
    case way::lock_per_voucher:
      return by_lock_of_voucher(buyer);
    case way::stock:
      return by_stock(buyer);
  }
  return outcome::sold_out;
}

// bought: nothing speaks against it.
outcome shop::ask_the_voucher(std::int64_t& units) {
  const auto r =
      orders_->run("SELECT units, opens_ms, closes_ms FROM flash_sale_voucher WHERE id = 1");
  const auto number = [&](std::size_t i) { return std::atoll(r.at(0).at(i).c_str()); };
  const std::int64_t now = now_ms();
  units = number(0);
  if (now < number(1)) return outcome::not_open_yet;
  if (now >= number(2)) return outcome::over;
  return units > 0 ? outcome::bought : outcome::sold_out;
}

bool shop::has_bought(int buyer) {
  return !orders_->run("SELECT 1 FROM flash_sale_order WHERE buyer = " + std::to_string(buyer))
              .empty();
}

// Look, then write what was looked at: right for one buyer at a time, and for nobody else.
outcome shop::unprotected(int buyer) {
  std::int64_t units = 0;
  if (const outcome no = ask_the_voucher(units); no != outcome::bought) return no;
  if (has_bought(buyer)) return outcome::already_bought;
  orders_->run("UPDATE flash_sale_voucher SET units = " + std::to_string(units - 1) +
               " WHERE id = 1");
  orders_->run("INSERT INTO flash_sale_order VALUES (" + std::to_string(buyer) + ", " +
               std::to_string(desk_.worker) + ")");
  return outcome::bought;
}

// The database counts the units; the lock keeps the clicks of one buyer apart.
outcome shop::by_lock_of_buyer(int buyer) {
  std::int64_t units = 0;
  if (const outcome no = ask_the_voucher(units); no != outcome::bought) return no;
  afar::mutex mine{desk_.client, desk_.what.name + "/buyer/" + std::to_string(buyer)};
  const std::scoped_lock guard{mine};
  if (has_bought(buyer)) return outcome::already_bought;
  return insistently([&] { return decrement_if_any(buyer); });
}

outcome shop::decrement_if_any(int buyer) {
  transaction t{*orders_};
  orders_->run("UPDATE flash_sale_voucher SET units = units - 1 WHERE id = 1 AND units > 0");
  if (orders_->changed == 0) return outcome::sold_out;
  orders_->run(orders_->insert_if_absent(
      "flash_sale_order", std::to_string(buyer) + ", " + std::to_string(desk_.worker)));
  if (orders_->changed == 0) {  // we stalled, or a worker died with its order on the way
    ++refused;
    return outcome::already_bought;
  }
  t.commit();
  return outcome::bought;
}

// One buyer at a time, so the simple steps of unprotected() are right, if a holder that stalled
// cannot write any more: its token is too old for the row.
outcome shop::by_lock_of_voucher(int buyer) {
  std::int64_t units = 0;
  if (const outcome no = ask_the_voucher(units); no != outcome::bought) return no;
  afar::mutex voucher{desk_.client, desk_.what.name + "/voucher"};
  for (;;) {
    const afar::hold held = voucher.acquire();
    std::optional<outcome> said;
    insistently([&] {
      try {
        return *(said = decrement_fenced(buyer, held.token()));
      } catch (const overtaken&) {
        ++refused;  // and from the beginning, with a new lock
        return outcome::sold_out;
      }
    });
    if (said) return *said;
  }
}

// The token first, then the look: so nothing of an earlier holder comes between the two.
outcome shop::decrement_fenced(int buyer, std::uint64_t token) {
  transaction t{*orders_};
  orders_->run("UPDATE flash_sale_voucher SET " + afar::sql::fence_set("fence", token) +
               " WHERE id = 1 AND " + afar::sql::fence_check("fence", token));
  if (orders_->changed == 0) throw overtaken{"a newer holder has written"};
  const outcome said = unprotected(buyer);
  t.commit();
  return said;
}

// The engine counts units and buyers in one step, and says the same to a worker that died and asks
// again; so does the table, whose key is the buyer. Who is refused never gets to the database.
outcome shop::by_stock(int buyer) {
  const std::string id = std::to_string(buyer);
  switch (stock_.take(1, id, id)) {
    case afar::take_result::taken:
      return insistently([&] { return write_order_once(buyer); });
    case afar::take_result::not_open_yet:
      return outcome::not_open_yet;
    case afar::take_result::closed:
      return outcome::over;
    case afar::take_result::limit_reached:
    case afar::take_result::already_taken:
      return outcome::already_bought;
    case afar::take_result::sold_out:
      return outcome::sold_out;
    case afar::take_result::no_such_stock:
      throw std::runtime_error{"the stock is not there"};
  }
  return outcome::sold_out;
}

outcome shop::write_order_once(int buyer) {
  const std::string worker = std::to_string(desk_.worker);
  transaction t{*orders_};
  orders_->run("UPDATE flash_sale_worker SET " + afar::sql::fence_set("fence", desk_.token()) +
               " WHERE id = " + worker + " AND " + afar::sql::fence_check("fence", desk_.token()));
  if (orders_->changed == 0) {
    ++refused;
    throw overtaken{"another process has this number"};
  }
  orders_->run(
      orders_->insert_if_absent("flash_sale_order", std::to_string(buyer) + ", " + worker));
  const bool written = orders_->changed > 0;
  t.commit();
  return written ? outcome::bought : outcome::already_bought;
}

}  // namespace sale
