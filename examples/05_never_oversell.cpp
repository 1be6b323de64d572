// A stock of units that many sell at once and nobody may oversell. Every sale carries an order id:
// a call whose answer was lost is simply repeated and takes effect once.
#include <afar/afar.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using afar::order_result;
using afar::take_result;

namespace {

int failures = 0;
void expect(bool right, const char* what) {
  std::printf("%s %s\n", right ? "  ok  " : "WRONG ", what);
  if (!right) ++failures;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string url = argc > 1 ? argv[1] : "local:";
  const std::string name = "concert of " + std::to_string(::getpid());
  afar::client shop{url};
  afar::stock tickets{shop, name};
  expect(tickets.take(1, "too early") == take_result::no_such_stock, "absent is not sold out");
  tickets.set(100, {.per_buyer = 20});

  // 1. Eight sellers, each a program of its own, and more customers than tickets.
  std::atomic<int> sold = 0, turned_away = 0;
  {
    std::vector<std::jthread> sellers;
    for (int seller = 0; seller < 8; ++seller)
      sellers.emplace_back([&, seller] {
        afar::client client{url};
        afar::stock same{client, name};
        for (int i = 0; i < 20; ++i) {
          const std::string order = std::to_string(seller) + "-" + std::to_string(i);
          const auto buyer = "buyer " + std::to_string(i);
          (same.take(1, order, buyer) == take_result::taken ? sold : turned_away)++;
        }
      });
  }
  std::printf("       %d sold, %d turned away\n", sold.load(), turned_away.load());
  expect(sold == 100 && turned_away == 60, "every ticket was sold, none twice");

  // 2. The order id is the receipt: asking again answers again and takes nothing more.
  expect(tickets.add(5), "five more tickets turn up");
  expect(tickets.take(2, "gift", "ada") == take_result::taken, "two for Ada");
  expect(tickets.take(2, "gift", "ada") == take_result::taken, "the repeated call says the same");
  expect(tickets.remaining() == 3, "and took nothing more");
  expect(tickets.put_back("gift") == order_result::done, "she returns them");
  expect(tickets.take(21, "bulk", "ada") == take_result::limit_reached,
         "20 are the limit per buyer");

  // 3. Reserve while the customer pays; commit, or it comes back: by cancel or by time.
  expect(tickets.reserve(1, "cart 1", "bob", 10s) == take_result::taken, "Bob has one in his cart");
  expect(tickets.commit("cart 1") == order_result::done, "and pays");
  expect(tickets.reserve(4, "cart 2", "eve", 20ms) == take_result::taken, "Eve has four");
  expect(tickets.take(1, "late", "joe") == take_result::sold_out, "so nothing is left for Joe");
  while (tickets.remaining() == 0) std::this_thread::yield();  // Eve never pays
  expect(tickets.commit("cart 2") == order_result::expired, "her time is over");
  expect(tickets.take(1, "later", "joe") == take_result::taken, "now Joe gets one");

  const auto levels = tickets.levels().value_or(afar::stock_levels{});
  expect(levels.remaining == 3 && levels.reserved == 0 && levels.taken == 102,
         "the sums are right");
  tickets.erase();
  return failures;
}
