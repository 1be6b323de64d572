// afar ls, inspect, check-token, gc.
#include "verbs_fixture.hpp"

#include <csignal>

namespace afar::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class look : public verbs {};

TEST_F(look, ls_says_that_nothing_is_in_use) {
  const auto a = run({"ls"});
  EXPECT_EQ(a.code, 0);
  EXPECT_EQ(a.out, "");
  EXPECT_THAT(a.err, HasSubstr("nothing is in use on file://"));
  EXPECT_EQ(json_of({"ls"}), nlohmann::json::array());
}

TEST_F(look, ls_lists_what_is_in_use_and_by_whom) {
  const client other = stage.client({.label = "night shift"});
  const hold mine = mutex(other, "nightly").acquire();
  leased_semaphore seats{other, "seats", 5};
  const hold three = seats.acquire(3);
  counter{other, "hits"}.store(42);
  stock{other, "stock/sku-42"}.set(7);
  const auto a = run({"ls"});
  EXPECT_EQ(a.code, 0);
  EXPECT_THAT(a.out, HasSubstr("NAME "));
  EXPECT_THAT(a.out, HasSubstr("HOLDER"));
  EXPECT_THAT(
      a.out, ::testing::ContainsRegex("nightly +mutex +held +[^ ]+:" + std::to_string(::getpid())));
  EXPECT_THAT(a.out, HasSubstr(std::to_string(mine.token())));
  EXPECT_THAT(a.out, ::testing::ContainsRegex("seats +leased_semaphore +3/5"));
  EXPECT_THAT(a.out, ::testing::ContainsRegex("hits +counter +42"));
  EXPECT_THAT(a.out, ::testing::ContainsRegex("stock/sku-42 +stock +7 left"));
}

TEST_F(look, ls_takes_a_pattern) {
  counter{locks, "a/1"}.store(1);
  counter{locks, "a/2"}.store(1);
  counter{locks, "b/1"}.store(1);
  EXPECT_EQ(json_of({"ls"}).size(), 3U);
  EXPECT_EQ(json_of({"ls", "a/*"}).size(), 2U);
  EXPECT_EQ(json_of({"ls", "?/1"}).size(), 2U);
  EXPECT_EQ(json_of({"ls", "b/1"}).at(0).at("name"), "b/1");
  EXPECT_THAT(run({"ls", "c*"}).err, HasSubstr("that matches c*"));
}

TEST_F(look, ls_prints_no_control_characters_of_a_name) {
  const hold mine = mutex(locks, "evil\033[2Jname\n\xff").acquire();
  const auto a = run({"ls"});
  EXPECT_THAT(a.out, HasSubstr("evil\\x1b[2Jname\\x0a\\xff"));
  EXPECT_THAT(a.out, Not(HasSubstr("\033")));
  EXPECT_EQ(json_of({"ls"}).size(), 1U);  // is JSON whatever the bytes are
}

TEST_F(look, inspect_shows_holder_waiters_and_how_to_release) {
  const client other = stage.client({.label = "night shift"});
  const hold mine = mutex(other, "nightly report").acquire();
  auto waiter = start({"hold", "nightly report"});
  ASSERT_TRUE(stage.becomes("nightly report", 1, 1));
  const auto a = run({"inspect", "nightly report"});
  EXPECT_EQ(a.code, 0);
  const auto token = std::to_string(mine.token());
  EXPECT_THAT(a.out, HasSubstr("name      nightly report (mutex, file://"));
  EXPECT_THAT(a.out, HasSubstr(" pid " + std::to_string(::getpid()) + " user "));
  EXPECT_THAT(a.out, HasSubstr("label night shift"));
  EXPECT_THAT(a.out, HasSubstr("token   " + token));
  EXPECT_THAT(a.out, HasSubstr("waiters   1"));
  EXPECT_THAT(a.out, ::testing::ContainsRegex("cmd afar hold  waiting [0-9]+\\.[0-9]s\n"));
  EXPECT_THAT(a.out, HasSubstr("afar release 'nightly report' --token " + token));

  const auto j = json_of({"inspect", "nightly report"});
  EXPECT_EQ(j.at("holders").at(0).at("token"), mine.token());
  EXPECT_EQ(j.at("holders").at(0).at("label"), "night shift");
  EXPECT_EQ(j.at("waiters").at(0).at("pid"), waiter.pid());
}

TEST_F(look, inspect_shows_renewals_history_and_where_tokens_come_from) {
  auto killed = start({"hold", "x"});
  const auto first = token_of(killed);
  killed.signal(SIGKILL);
  killed.ends();
  const client other = stage.client({.lease = 3s});
  mutex x{other, "x"};
  hold gone = x.acquire();
  const auto second = gone.token();
  gone.release();
  const hold mine = x.acquire();
  ASSERT_TRUE(eventually([&] { return inspect(locks, "x")->holders.front().renewals > 0U; }));

  const auto a = run({"inspect", "x"});
  EXPECT_THAT(a.out, ::testing::ContainsRegex("key shard-[01][0-9]/nx\\)   format native\n"));
  EXPECT_THAT(
      a.out,
      ::testing::ContainsRegex(
          "lease   3\\.0s, renewed [0-2]\\.[0-9]s ago, [0-3]\\.[0-9]s left, renewals [0-9]+\n"));
  EXPECT_THAT(a.out, HasSubstr("token   " + std::to_string(mine.token()) +
                               " (source: the last one + 1, or the clock's microseconds; "));
  const auto me = std::to_string(::getpid());
  EXPECT_THAT(a.out, ::testing::ContainsRegex("\nhistory   released 20[-0-9]+ [0-9:]+Z  pid " + me +
                                              "  token " + std::to_string(second) + "  held 0"));
  EXPECT_THAT(
      a.out, ::testing::ContainsRegex("\n          died 20.*  pid " + std::to_string(killed.pid()) +
                                      "  token " + std::to_string(first) + "  held "));

  const auto j = json_of({"inspect", "x"});
  EXPECT_EQ(j.at("holders").at(0).at("lease_ms"), 3'000);
  EXPECT_GT(j.at("holders").at(0).at("renewals"), 0);
  EXPECT_LT(j.at("holders").at(0).at("renewed_ms_ago"), 3'000);
  EXPECT_EQ(j.at("format"), "native");
  EXPECT_THAT(j.at("key").get<std::string>(), HasSubstr("/nx"));
  EXPECT_THAT(j.at("token_source").get<std::string>(), HasSubstr("microseconds"));
  EXPECT_EQ(j.at("history").at(0).at("ended"), "released");
  EXPECT_EQ(j.at("history").at(1).at("ended"), "died");
  EXPECT_EQ(j.at("history").at(1).at("pid"), killed.pid());
  EXPECT_EQ(j.at("history").at(1).at("token"), first);
}

TEST_F(look, inspect_of_nothing_is_a_no) {
  const auto a = run({"inspect", "x"});
  EXPECT_EQ(a.code, 1);
  EXPECT_THAT(a.err, HasSubstr("afar: x is not in use on file://"));
  EXPECT_TRUE(json_of({"inspect", "x"}, 1).is_null());
  EXPECT_EQ(run({"inspect"}).code, 64);
  EXPECT_EQ(run({"inspect", ""}).code, 64);
}

TEST_F(look, check_token_knows_the_token_that_stands) {
  hold mine = mutex(locks, "x").acquire();
  const auto token = mine.token();
  EXPECT_EQ(run({"check-token", "x", std::to_string(token)}).code, 0);
  const auto a = run({"check-token", "x", std::to_string(token - 1)});
  EXPECT_EQ(a.code, 1);
  EXPECT_THAT(a.err, HasSubstr("is over: x is held by "));
  mine.release();
  const auto b = run({"check-token", "x", std::to_string(token)});
  EXPECT_EQ(b.code, 1);
  EXPECT_THAT(b.err, HasSubstr("nobody holds x"));
  EXPECT_EQ(json_of({"check-token", "x", "5"}, 1).at("current"), false);
  EXPECT_EQ(run({"check-token", "x", "five"}).code, 64);
}

TEST_F(look, gc_removes_what_an_erased_stock_left) {
  stock shop{locks, "shop"};
  shop.set(500);
  for (int i = 0; i < 300; ++i) shop.take(1, std::to_string(i));
  shop.erase();
  EXPECT_GT(json_of({"gc"}).at("removed"), 100);
  const auto a = run({"gc"});
  EXPECT_EQ(a.code, 0);
  EXPECT_THAT(a.out, HasSubstr("0 records removed from file://"));
}

TEST_F(look, verbs_say_that_the_engine_is_away) {
  env["AFAR_URL"] = "file:///proc/nowhere";
  for (const char* verb : {"ls", "gc"}) EXPECT_EQ(run({verb}).code, 69) << verb;
  const auto a = run({"inspect", "x"});
  EXPECT_EQ(a.code, 69);
  EXPECT_THAT(a.err, ::testing::StartsWith("afar: file:///proc/nowhere: unavailable: "));
  EXPECT_EQ(run({"check-token", "x", "1"}).code, 69);
}

}  // namespace
}  // namespace afar::test
