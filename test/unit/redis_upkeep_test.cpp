// What afar doctor finds on a server, setting by setting, and what afar gc removes.
#include "redis_fixture.hpp"

#include <afar/afar.hpp>

#include <string>
#include <vector>

namespace afar::test {
namespace {

using grade = finding::grade;

class redis_upkeep : public redis_test {
 protected:
  static std::vector<finding> examined(const std::string& url) { return examine(client{url}); }

  // The finding of this topic; of several the first.
  static finding found(const std::vector<finding>& all, const std::string& topic) {
    for (const finding& f : all)
      if (f.topic == topic) return f;
    ADD_FAILURE() << "nothing about " << topic;
    return {};
  }
};

TEST_F(redis_upkeep, finds_a_row_for_every_setting_that_matters) {
  const auto all = examined(server->url());
  for (const char* topic :
       {"server", "eviction", "memory", "snapshots", "failover", "clients", "clock", "rights"})
    EXPECT_EQ(found(all, topic).how, grade::ok) << topic << ": " << found(all, topic).text;
  EXPECT_NE(found(all, "server").text.find("Redis "), std::string::npos);
  const finding lasting = found(all, "durability");
  EXPECT_EQ(lasting.how, grade::warning);
  EXPECT_NE(lasting.way_out.find("appendonly yes"), std::string::npos);
}

TEST_F(redis_upkeep, follows_its_own_way_out_of_a_short_memory) {
  const redis_server s{{"--appendonly", "yes", "--appendfsync", "always"}};
  EXPECT_EQ(found(examined(s.url()), "durability").how, grade::ok);
  EXPECT_NE(found(examined(s.url()), "durability").text.find("always"), std::string::npos);
}

TEST_F(redis_upkeep, fails_a_server_that_drops_locks) {
  const redis_server s{{"--maxmemory", "100mb", "--maxmemory-policy", "volatile-lru"}};
  const finding f = found(examined(s.url() + "?eviction=accept"), "eviction");
  EXPECT_EQ(f.how, grade::failure);
  EXPECT_NE(f.text.find("volatile-lru"), std::string::npos) << f.text;
  EXPECT_NE(f.way_out.find("noeviction"), std::string::npos) << f.way_out;
}

TEST_F(redis_upkeep, fails_a_server_that_is_full) {
  const redis_server s;
  const client c{s.url()};
  s.ask({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(found(examine(c), "memory").how, grade::failure);
  s.ask({"CONFIG", "SET", "maxmemory", "1gb"});
  EXPECT_EQ(found(examine(c), "memory").how, grade::ok);
}

TEST_F(redis_upkeep, warns_of_replicas_and_fails_without_those_that_writes_need) {
  const redis_server master;
  const redis_server replica{{"--replicaof", "127.0.0.1 " + std::to_string(master.port())}};
  const client c{master.url()};
  ASSERT_TRUE(eventually([&] { return found(examine(c), "failover").how == grade::warning; }));
  EXPECT_NE(found(examine(c), "failover").way_out.find("token"), std::string::npos);
  master.ask({"CONFIG", "SET", "min-replicas-to-write", "1"});
  replica.ask({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(eventually([&] { return found(examine(c), "failover").how == grade::failure; }));
}

TEST_F(redis_upkeep, fails_a_server_that_became_a_replica) {
  const redis_server s;
  const client c{s.url()};
  s.ask({"REPLICAOF", "127.0.0.1", std::to_string(server->port())});
  const finding f = found(examine(c), "server");
  EXPECT_EQ(f.how, grade::failure);
  EXPECT_NE(f.way_out.find("master"), std::string::npos);
}

TEST_F(redis_upkeep, warns_before_the_server_has_no_connection_left) {
  const redis_server s;
  const client c{s.url()};
  EXPECT_EQ(found(examine(c), "clients").how, grade::ok);
  s.ask({"CONFIG", "SET", "maxclients", "2"});
  const finding f = found(examine(c), "clients");
  EXPECT_EQ(f.how, grade::warning) << f.text;
  EXPECT_NE(f.way_out.find("maxclients"), std::string::npos);
}

TEST_F(redis_upkeep, names_the_rights_that_are_missing) {
  const redis_server s;
  const std::string url = "redis://worker:pw@127.0.0.1:" + std::to_string(s.port());
  s.ask({"ACL", "SETUSER", "worker", "on", ">pw", "~*", "&*", "+@all", "-publish"});
  finding f = found(examined(url), "rights");
  EXPECT_EQ(f.how, grade::failure);
  EXPECT_NE(f.way_out.find("+publish"), std::string::npos) << f.way_out;
  s.ask({"ACL", "SETUSER", "worker", "+publish", "-scan"});
  f = found(examined(url), "rights");
  EXPECT_EQ(f.how, grade::warning);
  EXPECT_NE(f.way_out.find("+scan"), std::string::npos) << f.way_out;
  s.ask({"ACL", "SETUSER", "worker", "+scan", "-acl", "-config"});
  EXPECT_EQ(found(examined(url), "rights").how, grade::ok) << "not known is no fault";
  s.ask({"ACL", "SETUSER", "worker", "-info"});
  EXPECT_EQ(found(examined(url), "server").how, grade::warning);
}

// ---- gc -----------------------------------------------------------------------------------------

TEST_F(redis_upkeep, removes_results_that_nobody_will_ask_for) {
  const client c{server->url()};
  counter(c, name).store(7);
  const std::string cell = "afar:cell:{" + name + "}";
  server->ask({"HSET", cell, "a-client-that-never-came-back", "1000;1,1,0,7,0;"});
  EXPECT_EQ(collect(c), 1U);
  EXPECT_EQ(collect(c), 0U);
  EXPECT_EQ(counter(c, name).load(), 7);
  counter(c, name).erase();
}

TEST_F(redis_upkeep, removes_what_is_left_of_a_stock_that_others_deleted) {
  const client c{server->url()};
  stock shop{c, name};
  shop.set(10);
  shop.take(1, "order", "buyer");
  EXPECT_EQ(collect(c), 0U);
  server->ask({"DEL", name});
  EXPECT_EQ(collect(c), 2U) << "the order, and the mark by which stocks are found";
  EXPECT_EQ(keys_like("*" + name + "*"), 0U);
}

TEST_F(redis_upkeep, remembers_a_latch_that_is_done) {
  const client c{server->url()};
  latch(c, name, 1).count_down();
  const std::string cell = "afar:cell:{" + name + "}";
  collect(c);
  EXPECT_EQ(server->ask({"EXISTS", cell}), ":1\r\n");
  EXPECT_TRUE(latch(c, name, 1).try_wait());
}

}  // namespace
}  // namespace afar::test
