// Looking after an engine: what it says of itself, and clearing away.
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"

#include <afar/afar.hpp>

namespace afar::test {
namespace {

class upkeep : public engine_test {};

TEST_P(upkeep, finds_an_engine_that_the_tests_run_on_fit) {
  for (const finding& f : examine(one)) {
    EXPECT_NE(f.how, finding::grade::failure) << f.topic << ": " << f.text;
    EXPECT_FALSE(f.topic.empty());
    EXPECT_FALSE(f.text.empty());
    EXPECT_EQ(f.way_out.empty(), f.how == finding::grade::ok) << f.topic << ": " << f.text;
  }
}

TEST_P(upkeep, clears_away_nothing_that_is_in_use) {
  if (lacks<counter>("counter")) return;
  need<mutex>("mutex");
  const hold mine = mutex(one, name + "/lock").acquire();
  counter{one, name + "/counter"}.store(7);
  stock shop{one, name + "/stock"};
  shop.set(5);
  shop.take(2, "order");
  collect(two);
  EXPECT_TRUE(mine);
  EXPECT_EQ(inspect(two, name + "/lock")->holders.front().token, mine.token());
  EXPECT_EQ(counter(two, name + "/counter").load(), 7);
  EXPECT_EQ(shop.levels()->taken, 2);
}

TEST_P(upkeep, clears_away_what_an_erased_stock_left) {
  if (lacks<stock>("stock")) return;
  stock shop{one, name};
  shop.set(1'000);
  for (int i = 0; i < 200; ++i) shop.take(1, std::to_string(i), "somebody");
  shop.erase();
  collect(two);
  // Token floors of other tests may end between two looks.
  EXPECT_TRUE(eventually([&] { return collect(one) == 0; }));
  EXPECT_FALSE(inspect(one, name));
}

TEST_P(upkeep, needs_an_open_client) {
  two.close();
  EXPECT_EQ(thrown_by([&] { examine(two); }), errc::closed);
  std::error_code ec;
  collect(two, ec);
  EXPECT_EQ(ec, errc::closed);
}

AFAR_FOR_EVERY_ENGINE(upkeep);

}  // namespace
}  // namespace afar::test
