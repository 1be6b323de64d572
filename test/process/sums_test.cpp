// Several processes on one counter, stock, semaphore, latch, barrier, mutex: the sums are right.
#include "actor.hpp"
#include "scene.hpp"
#include "support/patience.hpp"

#include <afar/counter.hpp>
#include <afar/stock.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace afar::test {
namespace {

class sums : public ::testing::Test {
 protected:
  static constexpr std::size_t crew = 4;
  static constexpr long turns = 500 / slowness;

  // Tells all actors the same ('#' becomes the actor's number) and collects their answers.
  std::vector<std::string> all_do(const std::string& line) {
    for (std::size_t i = 0; i < crew; ++i) {
      std::string text = line;
      std::replace(text.begin(), text.end(), '#', static_cast<char>('0' + i));
      actors[i].send(text);
    }
    std::vector<std::string> answers;
    for (actor& a : actors) answers.push_back(a.answer());
    return answers;
  }

  scene stage;
  std::array<actor, crew> actors{actor{stage}, actor{stage}, actor{stage}, actor{stage}};
  client locks = stage.client();
};

TEST_F(sums, of_a_counter) {
  long before = 0;
  for (const auto& answer : all_do("add c " + std::to_string(turns))) before += std::stol(answer);
  const long total = static_cast<long>(crew) * turns;
  EXPECT_EQ(counter(locks, "c").load(), total);
  EXPECT_EQ(before, total * (total - 1) / 2) << "two additions saw the same value";
}

TEST_F(sums, of_a_file_under_a_mutex) {
  const std::string file = stage.path("number");
  for (const auto& answer : all_do("guarded m " + file + " " + std::to_string(turns)))
    EXPECT_EQ(answer, "ok");
  std::int64_t total = 0;
  std::ifstream{file, std::ios::binary}.read(reinterpret_cast<char*>(&total), sizeof total);
  EXPECT_EQ(total, static_cast<long>(crew) * turns);
}

TEST_F(sums, of_a_stock) {
  stock shop{locks, "s"};
  shop.set(turns);
  long taken = 0;
  for (const auto& answer : all_do("take s " + std::to_string(turns) + " order-#-"))
    taken += std::stol(answer);
  EXPECT_EQ(taken, turns) << "oversold, or not all sold";
  EXPECT_EQ(shop.remaining(), 0);
  EXPECT_EQ(shop.levels().value_or(stock_levels{}).taken, turns);
}

TEST_F(sums, of_a_stock_when_the_same_orders_are_given_twice) {
  stock shop{locks, "s"};
  shop.set(1'000);
  for (const auto& answer : all_do("take s 100 order-")) EXPECT_EQ(answer, "100");
  EXPECT_EQ(shop.remaining(), 900);
}

TEST_F(sums, of_a_semaphore) {
  for (const auto& answer : all_do("permit p 2 " + std::to_string(turns / 5))) {
    EXPECT_GE(std::stol(answer), 1);
    EXPECT_LE(std::stol(answer), 2) << "more were inside than permitted";
  }
}

TEST_F(sums, of_a_latch) {
  for (const auto& answer : all_do("count_down l " + std::to_string(crew))) EXPECT_EQ(answer, "0");
}

TEST_F(sums, of_a_barrier) {
  constexpr long rounds = 50 / slowness;
  std::vector<std::vector<std::string>> stamps;
  for (const auto& answer :
       all_do("arrive b " + std::to_string(crew) + " " + std::to_string(rounds))) {
    stamps.push_back(words(answer));
    ASSERT_EQ(stamps.back().size(), 2 * rounds) << answer;
  }
  for (std::size_t round = 0; round < rounds; ++round) {
    std::int64_t last_arrival = 0;
    std::int64_t first_departure = std::numeric_limits<std::int64_t>::max();
    for (const auto& of_one : stamps) {
      last_arrival = std::max<std::int64_t>(last_arrival, std::stoll(of_one[2 * round]));
      first_departure = std::min<std::int64_t>(first_departure, std::stoll(of_one[2 * round + 1]));
    }
    EXPECT_LT(last_arrival, first_departure) << "round " << round;
  }
}

TEST_F(sums, of_a_barrier_of_which_one_dies) {
  for (std::size_t i = 0; i + 1 < crew; ++i) actors[i].send("arrive b 4 1");
  EXPECT_TRUE(stage.becomes("b", 0, crew - 1));
  actors[0].kill();
  for (std::size_t i = 1; i + 1 < crew; ++i) {
    const std::string answer = actors[i].answer();
    EXPECT_EQ(answer.find("error"), 0U) << answer;
  }
}

}  // namespace
}  // namespace afar::test
