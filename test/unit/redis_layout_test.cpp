// The names of keys: what others rely on, and that no two names share one.
#include "engines/redis/layout.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace afar::engines::redis::layout {
namespace {

TEST(redis_layout, names_the_keys_that_others_know) {
  EXPECT_EQ(name_key("orders/42"), "orders/42");
  EXPECT_EQ(token_key("orders"), "redisson_lock_token:{orders}");
  EXPECT_EQ(token_key("or{d}ers"), "redisson_lock_token:or{d}ers");
  EXPECT_EQ(cell_channel(spi::kind::semaphore, "s"), "redisson_sc:{s}");
  EXPECT_EQ(cell_channel(spi::kind::latch, "l{x}"), "redisson_countdownlatch__channel__{l{x}}");
}

TEST(redis_layout, keeps_names_and_keys_of_its_own_apart) {
  std::set<std::string> keys;
  std::size_t made = 0;
  for (const std::string name : {"a", "{a}", "a}", "afar:queue:{a}", "afar:cell:{a}",
                                 "redisson_lock_token:{a}", "afar:name:afar:queue:{a}"}) {
    for (const auto& key : {name_key(name), queue_key(name), past_key(name), cell_key(name),
                            orders_key(name), buyers_key(name), due_key(name)}) {
      keys.insert(key);
      ++made;
    }
  }
  EXPECT_EQ(keys.size(), made);
}

TEST(redis_layout, finds_the_name_in_a_key_of_an_index) {
  for (const std::string name : {"orders", "{a}b", "a{b", "a}", "{a}"}) {
    EXPECT_EQ(name_of(indexes[1], cell_key(name)), name);
    EXPECT_EQ(name_of(indexes[2], orders_key(name)), name);
  }
  for (const std::string name : {"orders", "{a}b", "a{b", "a}"})
    EXPECT_EQ(name_of(indexes[0], token_key(name)), name);
  EXPECT_FALSE(name_of(indexes[1], "afar:queue:{x}"));
}

}  // namespace
}  // namespace afar::engines::redis::layout
