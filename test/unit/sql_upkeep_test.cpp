// Rows that nobody needs any more, and what `afar doctor` says of a database.
#include "sql_fixture.hpp"

#include "engines/sql/row.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace afar::test {
namespace {

class sql_upkeep : public sql_test {
 protected:
  std::string rows() {
    return first_field(*look, "SELECT count(*) FROM afar_names WHERE kind > 0");
  }

  sql_server server{GetParam(), sql_setting{.clock = wall_clock::its_own}};
  client c = open_client(server.url(), {.lease = 1h});
  const std::unique_ptr<session> look = open_session(server);
};

TEST_P(sql_upkeep, collects_idle_names_and_nothing_in_use) {
  std::uint64_t token = 0;
  for (int i = 0; i < 20; ++i) {
    hold h = mutex(c, name + "/" + std::to_string(i)).acquire();
    token = h.token();
    h.release();
  }
  hold held = mutex(c, name).acquire();
  counter(c, name + "/n").store(7);
  EXPECT_EQ(collect(c), 0U) << "their tokens are of this minute";
  server.shift_clock(2min);
  EXPECT_GE(collect(c), 20U);
  EXPECT_EQ(rows(), "2");
  EXPECT_TRUE(held.valid());
  EXPECT_FALSE(mutex(c, name).try_acquire());
  EXPECT_EQ(counter(c, name + "/n").load(), 7);
  server.shift_clock({});
  EXPECT_GT(mutex(c, name + "/19").acquire().token(), token) << "a name that was collected";
}

// Only a record says that nobody holds it and nobody waits any more.
TEST_P(sql_upkeep, collects_names_whose_holder_and_waiters_have_died) {
  const hold doomed = mutex(c, name).acquire({.lease = 1s, .renew = renewal::off});
  spi::claim waits;
  waits.what = {spi::kind::mutex, name};
  waits.owner = {1, 2, 3};
  const std::string owner = waits.owner.text();
  const std::string arrival = engines::sql::arrival_of(waits, 0);
  constexpr auto never = std::numeric_limits<std::int64_t>::max();
  ASSERT_EQ(look->ask(engines::sql::statement::join, std::string_view{name}, std::int64_t{1},
                      std::string_view{arrival}, never, std::string_view{owner})
                .affected,
            1);
  EXPECT_EQ(collect(c), 0U);
  EXPECT_EQ(rows(), "1");
  server.shift_clock(2min);
  EXPECT_EQ(collect(c), 1U);
  EXPECT_EQ(rows(), "0");
}

// Without `afar gc`, by those who use other names.
TEST_P(sql_upkeep, collects_in_passing) {
  for (int i = 0; i < 300; ++i) mutex(c, name + "/old/" + std::to_string(i)).acquire().release();
  const hold kept = mutex(c, name + "/kept").acquire();
  counter(c, name + "/n").store(7);
  server.shift_clock(2min);
  mutex busy{c, name + "/busy"};
  for (int i = 0; i < 1'500 && rows() != "3"; ++i) busy.acquire().release();
  EXPECT_TRUE(eventually([&] { return rows() == "3"; })) << rows() << " rows are left";
  EXPECT_TRUE(kept.valid());
  EXPECT_EQ(counter(c, name + "/n").load(), 7);
}

TEST_P(sql_upkeep, examines_what_a_person_should_know) {
  const auto all = examine(c);
  std::set<std::string> topics;
  for (const finding& f : all) {
    topics.insert(f.topic);
    EXPECT_NE(f.how, finding::grade::failure) << f.topic << ": " << f.text;
    EXPECT_FALSE(f.text.empty()) << f.topic;
  }
  EXPECT_EQ(topics, (std::set<std::string>{"server", "bell", "clock", "durability", "replication",
                                           "connections"}));
  const auto of = [](const std::vector<finding>& from, const char* topic) {
    return *std::ranges::find(from, topic, &finding::topic);
  };
  EXPECT_EQ(of(all, "bell").how, finding::grade::ok);
  EXPECT_EQ(of(all, "clock").how, finding::grade::ok) << of(all, "clock").text;
  EXPECT_EQ(of(all, "durability").how, finding::grade::warning) << "the tests' servers do not sync";
  server.shift_clock(30s);
  EXPECT_EQ(of(examine(c), "clock").how, finding::grade::warning);
}

AFAR_FOR_EVERY_DATABASE(sql_upkeep);

}  // namespace
}  // namespace afar::test
