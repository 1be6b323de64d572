// A cluster: names on several servers, slots that move, a master that dies.
#include "engines/redis/slots.hpp"
#include "failover_scene.hpp"
#include "redis_fixture.hpp"
#include "support/errors.hpp"
#include "support/redis_topologies.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

namespace afar::test {
namespace {

using engines::redis::slot_of;

TEST(redis_slots, are_those_of_the_specification) {
  EXPECT_EQ(slot_of("123456789"), 0x31c3 % 16384);
  EXPECT_EQ(slot_of("{user1000}.following"), slot_of("{user1000}.followers"));
  EXPECT_EQ(slot_of("foo{}{bar}"), slot_of("foo{}{bar}"));
  EXPECT_NE(slot_of("foo{}{bar}"), slot_of("bar"));
  EXPECT_EQ(slot_of("foo{{bar}}zap"), slot_of("{bar"));
  EXPECT_EQ(slot_of("foo{bar}{zap}"), slot_of("bar"));
}

class redis_cluster_test : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { group = std::make_unique<redis_cluster>(nerves::patient); }
  static void TearDownTestSuite() { group.reset(); }
  inline static std::unique_ptr<redis_cluster> group;
  const std::string name =
      std::string{::testing::UnitTest::GetInstance()->current_test_info()->name()};
};

TEST_F(redis_cluster_test, spreads_names_over_its_servers_and_lists_them_all) {
  const client c{group->url(), client_options{.prefix = name + "/"}};
  std::vector<hold> holds;
  std::set<const redis_server*> on;
  for (int i = 0; i < 50; ++i) {
    holds.push_back(mutex(c, std::to_string(i)).acquire());
    on.insert(&group->master_of(name + "/" + std::to_string(i)));
  }
  EXPECT_EQ(on.size(), 3U);
  EXPECT_EQ(survey(c).size(), 50U);
  EXPECT_NO_THROW(collect(c));
  const auto rows = examine(c);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].topic, "cluster");
  EXPECT_EQ(rows[0].how, finding::grade::ok) << rows[0].text;
}

TEST_F(redis_cluster_test, opens_by_any_server_that_is_up) {
  redis_server gone;
  const std::string nobody = gone.address();
  gone.stop();
  EXPECT_NO_THROW(client{"redis+cluster://" + nobody + "," + group->servers[4]->address()});
  const auto f = failure_of([&] { client{"redis+cluster://" + nobody}; });
  EXPECT_EQ(f.code, errc::unavailable) << f.message;
  const redis_server alone;
  EXPECT_EQ(failure_of([&] { client{"redis+cluster://" + alone.address()}; }).code,
            errc::unsupported);
  EXPECT_EQ(failure_of([&] { client{group->servers[0]->url()}; }).code, errc::unsupported);
  EXPECT_EQ(failure_of([&] { client{group->url() + "/3"}; }).code, errc::bad_url);
}

TEST_F(redis_cluster_test, takes_any_braces_in_names) {
  const client c{group->url(), client_options{.prefix = name + "/"}};
  std::set<std::string> names;
  for (const std::string n : {"{", "}", "{}", "a{b}c", "{a}{b}", "}{", "a%7Bb", "%", "afar:x{"}) {
    const hold h = mutex(c, n).acquire();
    EXPECT_FALSE(mutex(client{group->url(), client_options{.prefix = name + "/"}}, n).try_lock())
        << n;
    counter(c, n + "c").fetch_add(1);
    EXPECT_TRUE(inspect(c, n)) << n;
    for (const auto& e : survey(c)) names.insert(e.name);
    EXPECT_TRUE(names.contains(n)) << n;
  }
}

TEST_F(redis_cluster_test, follows_a_slot_that_moves) {
  const client c{group->url()};
  counter n{c, name};
  EXPECT_EQ(n.fetch_add(1), 0);
  redis_server& from = group->master_of(name);
  redis_server& to = &from == group->servers[0].get() ? *group->servers[1] : *group->servers[0];
  const std::string slot = std::to_string(slot_of(name));
  const auto steps = c.stats().steps;
  // On its way: keys that are not there any more are asked for (ASK) at the other server.
  to.ask({"CLUSTER", "SETSLOT", slot, "IMPORTING", group->id_of(from)});
  from.ask({"CLUSTER", "SETSLOT", slot, "MIGRATING", group->id_of(to)});
  for (const std::string& key : {name, "afar:cell:{" + name + "}"})
    ASSERT_TRUE(from.ask({"MIGRATE", "127.0.0.1", std::to_string(to.port()), key, "0", "2000"})
                    .starts_with("+OK"));
  // A script of several keys must wait until all of them are on one server (TRYAGAIN).
  std::thread waits{[&] { EXPECT_EQ(n.fetch_add(1), 1); }};
  EXPECT_TRUE(eventually([&] { return c.stats().steps > steps; }));
  for (redis_server* s : {&to, &from})
    s->ask({"CLUSTER", "SETSLOT", slot, "NODE", group->id_of(to)});
  waits.join();
  EXPECT_EQ(n.fetch_add(1), 2) << "MOVED";
  EXPECT_EQ(&group->master_of(name), &to);
  // And back, for the others.
  to.ask({"CLUSTER", "SETSLOT", slot, "MIGRATING", group->id_of(from)});
  from.ask({"CLUSTER", "SETSLOT", slot, "IMPORTING", group->id_of(to)});
  for (const std::string& key : {name, "afar:cell:{" + name + "}"})
    to.ask({"MIGRATE", "127.0.0.1", std::to_string(from.port()), key, "0", "2000"});
  for (redis_server* s : {&from, &to})
    s->ask({"CLUSTER", "SETSLOT", slot, "NODE", group->id_of(from)});
  EXPECT_EQ(n.fetch_add(1), 3);
}

TEST(redis_cluster_failover, with_holders_and_waiters) {
  const redis_cluster g{nerves::quick};
  failover_scene scene{g.url(), "m"};
  redis_server& old = g.master_of("m");
  scene.run([&] { old.stop(); }, [&] { return g.promoted_after(old, "m-probe{m}"); });
}

}  // namespace
}  // namespace afar::test
