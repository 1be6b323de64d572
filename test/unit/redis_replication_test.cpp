// Grants that count when replicas have them (?replication=).
#include "redis_fixture.hpp"
#include "support/errors.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace afar::test {
namespace {

std::vector<std::string> replica_of(const redis_server& master) {
  return {"--replicaof", "127.0.0.1 " + std::to_string(master.port())};
}

bool in_step(const redis_server& replica) {
  return eventually([&] {
    return replica.ask({"INFO", "replication"}).find("master_link_status:up") != std::string::npos;
  });
}

const client_options impatient{.patience = 1s};

TEST(redis_replication, needs_as_many_replicas_as_it_says) {
  const redis_server master;
  const std::string url = master.url() + "?replication=";
  const auto alone = failure_of([&] { client{url + "any"}; });
  EXPECT_EQ(alone.code, errc::unavailable);
  EXPECT_NE(alone.message.find("no replica"), std::string::npos) << alone.message;
  EXPECT_EQ(failure_of([&] { client{url + "some"}; }).code, errc::bad_url);

  const redis_server replica{replica_of(master)};
  ASSERT_TRUE(in_step(replica));
  for (const std::string how : {"any", "majority", "all"}) {
    const client c{url + how, impatient};
    mutex m{c, how};
    m.lock();
    EXPECT_NE(replica.ask({"GET", how}).find(":"), std::string::npos) << "the replica has it";
    m.unlock();
  }
}

// WAIT's answer is not ignored: a replica that does not confirm makes no grant, and no key is left.
TEST(redis_replication, R6_a_grant_that_no_replica_confirms_is_none) {
  const redis_server master;
  redis_server replica{replica_of(master)};
  ASSERT_TRUE(in_step(replica));
  const client c{master.url() + "?replication=all", impatient};
  replica.suspend();
  const auto f = failure_of([&] { mutex{c, "m"}.lock(); });
  EXPECT_EQ(f.code, errc::unavailable) << f.message;
  EXPECT_NE(f.message.find("confirmed by 0 replicas"), std::string::npos) << f.message;
  EXPECT_TRUE(eventually([&] { return master.ask({"EXISTS", "m"}) == ":0\r\n"; }));
  replica.resume();
  EXPECT_NO_THROW(mutex(c, "m").lock());
}

// One confirmation is not enough if another replica may be promoted: `all` is.
TEST(redis_replication, R7_what_all_confirmed_survives_whichever_is_promoted) {
  redis_server master;
  const redis_server first{replica_of(master)};
  redis_server second{replica_of(master)};
  ASSERT_TRUE(in_step(first) && in_step(second));
  const client lenient{master.url() + "?replication=any", impatient};
  const client strict{master.url() + "?replication=all", impatient};
  second.suspend();
  EXPECT_TRUE(mutex(lenient, "any").acquire().valid()) << "the first one's word is enough";
  const auto f = failure_of([&] { mutex{strict, "m"}.lock(); });
  EXPECT_EQ(f.code, errc::unavailable) << f.message;
  EXPECT_NE(f.message.find("confirmed by 1 "), std::string::npos) << f.message;
  second.resume();
  ASSERT_TRUE(in_step(second));

  mutex m{strict, "m"};
  const hold mine = m.acquire();
  master.stop();
  ASSERT_EQ(second.ask({"REPLICAOF", "NO", "ONE"}), "+OK\r\n");
  const client after{second.url()};
  mutex theirs{after, "m"};
  EXPECT_FALSE(theirs.try_lock()) << "the new master does not know the hold";
}

}  // namespace
}  // namespace afar::test
