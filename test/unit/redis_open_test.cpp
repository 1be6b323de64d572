// What a client is refused when it opens, and in which words.
#include "redis_fixture.hpp"
#include "support/errors.hpp"

#include "support/waiting.hpp"

#include <afar/afar.hpp>

#include <string>
#include <thread>
#include <vector>

namespace afar::test {
namespace {

failure opening(const std::string& url) {
  return failure_of([&] { client{url}; });
}

std::string address_of(const redis_server& s) { return "127.0.0.1:" + std::to_string(s.port()); }

TEST(redis_open, needs_a_server) {
  redis_server s;
  const std::string url = s.url();
  s.stop();
  failure f;
  const auto took = time_of([&] { f = opening(url); });
  EXPECT_EQ(f.code, errc::unavailable) << f.message;
  EXPECT_NE(f.message.find("refused"), std::string::npos) << f.message;
  EXPECT_LT(took, slowness * 1s) << "nobody listens there: no reason to wait";
}

TEST(redis_open, needs_a_host_that_there_is) {
  const auto f = opening("redis://no-such-host.invalid");
  EXPECT_EQ(f.code, errc::unavailable) << f.message;
}

TEST(redis_open, says_that_the_server_has_no_connection_left) {
  const redis_server s;
  const client first{s.url()};
  s.ask({"CONFIG", "SET", "maxclients", "2"});
  recording_host up;
  const auto f =
      failure_of([&] { engines::open(detail::parse_url(s.url()), up, boot_clock::now() + 100ms); });
  EXPECT_EQ(f.code, errc::unavailable);
  EXPECT_NE(f.message.find("maxclients"), std::string::npos) << f.message;
}

TEST(redis_open, gives_up_in_time_when_the_server_does_not_answer) {
  redis_server s;
  s.suspend();
  recording_host up;
  const auto took = time_of([&] {
    EXPECT_THROW(engines::open(detail::parse_url(s.url()), up, boot_clock::now() + 200ms),
                 lock_error);
  });
  EXPECT_GE(took, 200ms);
  EXPECT_LT(took, slowness * 900ms) << "closing must not wait for the dialing to end";
  s.resume();
}

TEST(redis_open, needs_the_password_and_does_not_show_it) {
  const redis_server s{{"--requirepass", "c4nary"}};
  EXPECT_EQ(opening(s.url()).code, errc::denied);
  const auto wrong = opening("redis://:w0ng-c4nary@" + address_of(s));
  EXPECT_EQ(wrong.code, errc::denied);
  EXPECT_EQ(wrong.message.find("c4nary"), std::string::npos) << wrong.message;
  EXPECT_NO_THROW(client{"redis://:c4nary@" + address_of(s)});
}

TEST(redis_open, serves_a_user_of_the_acl) {
  const redis_server s;
  s.ask({"ACL", "SETUSER", "worker", "on", ">pw", "~*", "&*", "+@all"});
  EXPECT_NO_THROW(client{"redis://worker:pw@" + address_of(s)});
}

// The rule of docs/engines/redis.md, for the prefix "app:".
const std::vector<std::string> least_rights = {"ACL",
                                               "SETUSER",
                                               "worker",
                                               "reset",
                                               "on",
                                               ">pw",
                                               "~app:*",
                                               "~afar:*:{app:*",
                                               "~redisson_lock_token:{app:*",
                                               "&afar:client:*",
                                               "&afar:*:{app:*",
                                               "&redisson_sc:{app:*",
                                               "&redisson_countdownlatch__channel__{app:*",
                                               "+hello",
                                               "+select",
                                               "+info",
                                               "+ping",
                                               "+client|kill",
                                               "+eval",
                                               "+evalsha",
                                               "+subscribe",
                                               "+unsubscribe",
                                               "+publish",
                                               "+scan",
                                               "+time",
                                               "+type",
                                               "+exists",
                                               "+del",
                                               "+pexpire",
                                               "+pttl",
                                               "+persist",
                                               "+get",
                                               "+set",
                                               "+hget",
                                               "+hset",
                                               "+hdel",
                                               "+hmget",
                                               "+hgetall",
                                               "+hincrby",
                                               "+hexists",
                                               "+hlen",
                                               "+zadd",
                                               "+zscore",
                                               "+zrem",
                                               "+zremrangebyscore",
                                               "+zincrby",
                                               "+zrangebyscore",
                                               "+zrange"};

TEST(redis_open, needs_no_more_rights_than_documented) {
  const redis_server s;
  ASSERT_EQ(s.ask(least_rights), "+OK\r\n");
  const client one{"redis://worker:pw@" + address_of(s) + "?prefix=app:"};
  const client two{"redis://worker:pw@" + address_of(s) + "?prefix=app:"};
  {
    mutex a{one, "m"};
    mutex b{two, "m"};
    a.lock();
    std::thread waits{[&] {
      b.lock();
      b.unlock();
    }};
    EXPECT_TRUE(has_waited(two));
    a.unlock();
    waits.join();
  }
  EXPECT_EQ(counter(one, "c").fetch_add(2), 0);
  EXPECT_TRUE(leased_semaphore(one, "p", 2).try_acquire().valid());
  shared_mutex readers{one, "s"};
  EXPECT_TRUE(readers.try_lock_shared());
  readers.unlock_shared();
  latch(one, "l", 1).count_down();
  stock(one, "k").set(1);
  // What there is, and clearing away: other users' names are passed over.
  const client root{s.url()};
  const hold theirs = mutex(root, "theirs").acquire();
  counter(root, "c").store(1);
  const hold mine = mutex(one, "m").acquire();
  EXPECT_EQ(survey(one).size(), 4U) << "m, c, l and k";
  EXPECT_NO_THROW(collect(one));
  const client other{"redis://worker:pw@" + address_of(s) + "?prefix=else:"};
  EXPECT_EQ(failure_of([&] { mutex{other, "m"}.lock(); }).code, errc::denied);
}

TEST(redis_open, refuses_a_server_that_may_drop_locks) {
  const redis_server s{{"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}};
  const auto f = opening(s.url());
  EXPECT_EQ(f.code, errc::unsupported);
  EXPECT_NE(f.message.find("allkeys-lru"), std::string::npos) << f.message;
  EXPECT_NO_THROW(client{s.url() + "?eviction=accept"});
}

TEST(redis_open, refuses_a_replica) {
  const redis_server master;
  const redis_server replica{{"--replicaof", "127.0.0.1 " + std::to_string(master.port())}};
  const auto f = opening(replica.url());
  EXPECT_EQ(f.code, errc::unavailable);
  EXPECT_NE(f.message.find("replica"), std::string::npos) << f.message;
}

TEST(redis_open, chooses_the_database) {
  const redis_server s;
  EXPECT_NO_THROW(client{s.url() + "/3"});
  EXPECT_TRUE(opening(s.url() + "/99").code);
  EXPECT_EQ(opening(s.url() + "/x").code, errc::bad_url);
}

TEST(redis_open, refuses_options_that_it_does_not_have) {
  EXPECT_EQ(opening("redis://127.0.0.1?layout=other").code, errc::bad_url);
  EXPECT_EQ(opening("redis://a,b").code, errc::bad_url);
}

}  // namespace
}  // namespace afar::test
