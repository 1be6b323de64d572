// The line of a name on Redis, step by step. Random torture does not catch a script that forgets to
// move the line, because waiters look again by themselves; here nobody does.
#include "redis_fixture.hpp"

#include <afar/client.hpp>
#include <afar/mutex.hpp>

#include <chrono>
#include <future>
#include <string>

namespace afar::test {
namespace {

class redis_line : public redis_test {
 protected:
  answered<spi::acquire_reply> ask(std::uint64_t n, spi::milliseconds lease = 10s,
                                   spi::access mode = spi::access::exclusive,
                                   kind k = kind::mutex) {
    spi::claim a = claim_of(n, name, k);
    a.lease = lease;
    a.mode = mode;
    return acquire(*engine, a);
  }
  spi::renew_reply renewed(spi::claim& a) {
    std::promise<spi::renew_reply> answer;
    spi::claim* one[] = {&a};
    engine->renew(one, never, [&](std::size_t, const spi::status& s, spi::renew_reply r) {
      EXPECT_FALSE(s) << s.detail.str();
      answer.set_value(r);
    });
    return answer.get_future().get();
  }
  std::uint64_t holder() {
    const auto all = survey(*engine, {.name = name});
    if (all.entries.empty() || all.entries[0].holders.empty()) return 0;
    return all.entries[0].holders[0].owner.number;
  }
};

TEST_F(redis_line, grants_at_once_to_the_next_when_released) {
  ASSERT_TRUE(ask(1).reply.granted);
  const auto refused = ask(2);
  ASSERT_FALSE(refused.reply.granted);
  EXPECT_EQ(refused.reply.watch_key, "q" + owner(2).text());
  release(*engine, 1, name);
  EXPECT_TRUE(told(2));
  EXPECT_EQ(holder(), 2U);
  const auto pushed = up.grant_of(owner(2));
  EXPECT_GT(pushed.token, refused.reply.token);
  EXPECT_LE(pushed.lease, engine->about().waiter_lease) << "short until it is confirmed";
  const auto confirmed = ask(2).reply;
  EXPECT_EQ(confirmed.token, pushed.token);
  EXPECT_EQ(confirmed.last_token, pushed.last_token);
}

// A request in line, a release that grants: nobody asks whether it was granted.
TEST_F(redis_line, a_grant_takes_two_commands) {
  const client c{server->url()};
  const client d{server->url()};
  mutex mine{c, name};
  mutex theirs{d, name};
  // A waiter refreshes its place after a second, so that a stall may cost a step once.
  EXPECT_TRUE(eventually([&] {
    mine.lock();
    const auto before = d.stats();
    auto waits = std::async(std::launch::async, [&] { theirs.lock(); });
    EXPECT_TRUE(eventually([&] { return d.stats().waited > before.waited; }));
    mine.unlock();
    waits.get();
    const auto steps = d.stats().steps - before.steps;
    theirs.unlock();
    return steps == 1;
  }));
}

TEST_F(redis_line, moves_on_when_the_front_withdraws) {
  ASSERT_TRUE(ask(1, 10s, spi::access::shared, kind::shared_mutex).reply.granted);
  ASSERT_FALSE(ask(2, 10s, spi::access::exclusive, kind::shared_mutex).reply.granted);
  ASSERT_FALSE(ask(3, 10s, spi::access::shared, kind::shared_mutex).reply.granted);
  release(*engine, 2, name);
  EXPECT_TRUE(told(3)) << "the writer in front of it has left";
}

TEST_F(redis_line, moves_on_when_anybody_finds_the_hold_over) {
  ASSERT_TRUE(ask(1, 50ms).reply.granted);
  ASSERT_FALSE(ask(2).reply.granted);
  ASSERT_TRUE(eventually([&] { return holder() == 0; }));
  ASSERT_FALSE(ask(3).reply.granted) << "number 2 stands before it";
  EXPECT_TRUE(told(2));
  EXPECT_EQ(holder(), 2U);
}

TEST_F(redis_line, skips_the_dead) {
  ASSERT_TRUE(ask(1).reply.granted);
  ASSERT_FALSE(ask(2, 30ms).reply.granted);  // keeps its place as long as its lease would be
  ASSERT_FALSE(ask(3, 30ms).reply.granted);
  ASSERT_FALSE(ask(4).reply.granted);
  ASSERT_TRUE(eventually([&] {
    const auto all = survey(*engine, {.name = name});
    return !all.entries.empty() && all.entries[0].waiters.size() == 1;
  }));
  release(*engine, 1, name);
  EXPECT_EQ(holder(), 4U);
}

TEST_F(redis_line, gives_a_short_grant_to_who_does_not_know_of_it_yet) {
  ASSERT_TRUE(ask(1).reply.granted);
  ASSERT_FALSE(ask(2).reply.granted);
  release(*engine, 1, name);
  EXPECT_LE(survey(*engine, {.name = name}).entries.at(0).holders.at(0).lease_left, 3s);
  ASSERT_TRUE(ask(2).reply.granted);
  EXPECT_GT(survey(*engine, {.name = name}).entries.at(0).holders.at(0).lease_left, 9s);
}

TEST_F(redis_line, passes_a_grant_on_that_meets_a_withdrawal) {
  ASSERT_TRUE(ask(1).reply.granted);
  ASSERT_FALSE(ask(2).reply.granted);
  ASSERT_FALSE(ask(3).reply.granted);
  release(*engine, 1, name);
  ASSERT_EQ(holder(), 2U);
  EXPECT_EQ(release(*engine, 2, name).reply, release_reply::released);
  EXPECT_EQ(holder(), 3U);
}

TEST_F(redis_line, leaves_only_the_token_behind) {
  ASSERT_TRUE(ask(1).reply.granted);
  ASSERT_FALSE(ask(2).reply.granted);
  release(*engine, 1, name);
  release(*engine, 2, name);
  EXPECT_EQ(keys_like("*" + name + "*"), 1U);
  EXPECT_EQ(keys_like("redisson_lock_token:{" + name + "}"), 1U);
}

TEST_F(redis_line, excludes_a_plain_set_nx_px_peer_both_ways) {
  ASSERT_EQ(server->ask({"SET", name, "8f14e45f-1", "NX", "PX", "60000"}), "+OK\r\n");
  EXPECT_FALSE(ask(1).reply.granted);
  server->ask({"DEL", name});
  EXPECT_TRUE(ask(1).reply.granted);
  EXPECT_EQ(server->ask({"SET", name, "8f14e45f-2", "NX", "PX", "60000"}), "$-1\r\n");
}

// SimpleRedisLock: SET lock:<name> <uuid>-<thread> NX EX n, and a script that deletes what is its own.
TEST_F(redis_line, shares_locks_with_simple_redis_lock_under_its_prefix) {
  const client c{server->url() + "?prefix=lock:"};
  const std::string key = "lock:" + name;
  const std::string mine = "5c8f2b1e-0000-4000-8000-000000000000-17";
  const auto set = [&] { return server->ask({"SET", key, mine, "EX", "60", "NX"}); };
  const auto unlock = [&] {
    return server->ask({"EVAL",
                        "if redis.call('get', KEYS[1]) == ARGV[1] then "
                        "return redis.call('del', KEYS[1]) end return 0",
                        "1", key, mine});
  };
  ASSERT_EQ(set(), "+OK\r\n");
  mutex lock{c, name};
  EXPECT_FALSE(lock.try_lock());
  ASSERT_EQ(unlock(), ":1\r\n");
  EXPECT_TRUE(lock.try_lock_for(long_time));
  EXPECT_EQ(set(), "$-1\r\n");
  EXPECT_EQ(unlock(), ":0\r\n") << "it must not delete ours";
  std::error_code ec;
  lock.unlock(ec);
  EXPECT_FALSE(ec);
  EXPECT_EQ(set(), "+OK\r\n");
}

TEST_F(redis_line, refuses_a_name_that_is_held_in_redissons_layout) {
  server->ask({"HSET", name, "4b6f-uuid:1", "2"});
  const auto got = ask(1);
  EXPECT_EQ(got.status.code, errc::wrong_use);
  EXPECT_NE(got.status.detail.str().find("layout=redisson"), std::string::npos)
      << got.status.detail.str();
}

TEST_F(redis_line, keeps_tokens_growing_when_everything_is_lost) {
  const auto before = ask(1).reply.token;
  server->ask({"FLUSHALL"});
  EXPECT_GT(ask(2).reply.token, before);
}

// Who reserves more than a million tokens a second runs ahead of the clock, by which old keys are known.
TEST_F(redis_line, keeps_the_key_of_tokens_that_run_ahead_of_the_clock) {
  const std::string key = "redisson_lock_token:{" + name + "}";
  const auto tomorrow = [] {
    const auto now = std::chrono::system_clock::now().time_since_epoch() + std::chrono::hours{24};
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  }();
  const auto lasts_long = [&] {
    return std::stoll(server->ask({"PTTL", key}).substr(1)) > 100'000'000;
  };
  const auto shorten = [&] { server->ask({"PEXPIRE", key, "60000"}); };
  server->ask({"SET", key, std::to_string(tomorrow)});
  shorten();
  EXPECT_GT(ask(1).reply.token, static_cast<std::uint64_t>(tomorrow));
  EXPECT_TRUE(lasts_long()) << "by who is granted at once";
  ASSERT_FALSE(ask(2).reply.granted);
  shorten();
  release(*engine, 1, name);
  EXPECT_EQ(holder(), 2U);
  EXPECT_TRUE(lasts_long()) << "by a release that grants";
}

TEST_F(redis_line, renews_and_releases_when_the_server_is_full) {
  spi::claim a = claim_of(1, name);
  ASSERT_TRUE(acquire(*engine, a).reply.granted);
  ASSERT_FALSE(ask(2).reply.granted);
  server->ask({"CONFIG", "SET", "maxmemory", "1"});
  const auto again = ask(2);
  EXPECT_FALSE(again.status) << "who waits goes on waiting: " << again.status.detail.str();
  EXPECT_FALSE(again.reply.granted);
  EXPECT_EQ(renewed(a).why, loss::none);
  EXPECT_EQ(acquire(*engine, 3, name + "/new").status.code, errc::no_room);
  EXPECT_EQ(release(*engine, 1, name).reply, release_reply::released);
  EXPECT_EQ(holder(), 2U);
  EXPECT_EQ(release(*engine, 2, name).reply, release_reply::released);
  server->ask({"CONFIG", "SET", "maxmemory", "0"});
}

TEST_F(redis_line, renews_what_has_not_changed_in_few_words) {
  spi::claim a = claim_of(1, name);
  a.token = acquire(*engine, a).reply.token;
  EXPECT_EQ(renewed(a).why, loss::none);  // looks at all of it
  server->ask({"PEXPIRE", name, "1000"});
  server->ask({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(renewed(a).why, loss::none);
  const std::string used = server->ask({"INFO", "commandstats"});
  EXPECT_NE(used.find("cmdstat_pexpire:calls=1"), std::string::npos) << used;
  EXPECT_EQ(used.find("cmdstat_time:"), std::string::npos)
      << used;  // what looks at all asks for it
  EXPECT_GT(std::stoi(server->ask({"PTTL", name}).substr(1)), 1000);
}

TEST_F(redis_line, a_hold_that_was_kept_is_written_anew_when_its_note_has_changed) {
  spi::claim a = claim_of(1, name);
  a.token = acquire(*engine, a).reply.token;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(renewed(a).why, loss::none);
  a.note = "another";
  EXPECT_EQ(renewed(a).why, loss::none);
  EXPECT_NE(server->ask({"GET", name}).find(" another\r\n"), std::string::npos);
}

TEST_F(redis_line, a_hold_that_was_kept_is_told_how_it_was_lost) {
  const auto kept = [&](std::uint64_t number) {
    spi::claim a = claim_of(number, name);
    a.token = acquire(*engine, a).reply.token;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(renewed(a).why, loss::none);
    return a;
  };
  spi::claim evicted = kept(1);
  answer_of<release_reply>([&](auto done) {
    engine->evict(evicted.what, evicted.owner, evicted.token, never, std::move(done));
  });
  EXPECT_EQ(renewed(evicted).why, loss::evicted);
  spi::claim expired = kept(2);
  server->ask({"SET", name, "of another"});
  EXPECT_EQ(renewed(expired).why, loss::expired);
}

TEST_F(redis_line, reserves_tokens_for_hand_overs_of_who_waits_too) {
  ASSERT_TRUE(ask(1).reply.granted);
  spi::claim a = claim_of(2, name);
  a.handoffs = 16;
  ASSERT_FALSE(acquire(*engine, a).reply.granted);
  release(*engine, 1, name);
  const auto got = acquire(*engine, a).reply;
  ASSERT_TRUE(got.granted);
  EXPECT_EQ(got.last_token, got.token + 16);
}

TEST_F(redis_line, tells_the_victim_of_an_eviction) {
  spi::claim a = claim_of(1, name);
  a.token = acquire(*engine, a).reply.token;
  const auto evicted = answer_of<release_reply>(
      [&](auto done) { engine->evict(a.what, a.owner, a.token, never, std::move(done)); });
  EXPECT_EQ(evicted.reply, release_reply::released);
  EXPECT_EQ(renewed(a).why, loss::evicted);
}

// What became of a round was remembered for one lease only. (For 2 minutes: waited for, not by this test.)
TEST_F(redis_line, counts_nobody_in_two_rounds_who_was_stopped_for_longer_than_its_lease) {
  spi::claim stopped = claim_of(1, name, kind::barrier);
  spi::claim other = claim_of(2, name, kind::barrier);
  stopped.limit = other.limit = 2;
  ASSERT_FALSE(acquire(*engine, stopped).reply.granted);
  const auto opened = acquire(*engine, other);
  ASSERT_TRUE(opened.reply.granted);
  const std::string past = "afar:past:{" + name + "}";
  EXPECT_GT(std::stol(server->ask({"PTTL", past}).substr(1)), 100'000);
  const std::string verdict = server->ask({"HGET", past, stopped.owner.text()});
  const long until_s = std::stol(verdict.substr(verdict.rfind(' ') + 1)) / 1'000;
  const std::string clock = server->ask({"TIME"});
  EXPECT_GT(until_s, std::stol(clock.substr(clock.find("\r\n", 5) + 2)) + 100);
  const auto late = acquire(*engine, stopped);
  EXPECT_TRUE(late.reply.granted) << "it arrived anew";
  EXPECT_EQ(late.reply.token, opened.reply.token);
}

TEST_F(redis_line, counts_nobody_in_two_rounds_whose_round_is_forgotten) {
  spi::claim stopped = claim_of(1, name, kind::barrier);
  stopped.limit = 2;
  ASSERT_FALSE(acquire(*engine, stopped).reply.granted);
  ASSERT_FALSE(stopped.place.empty()) << "it does not know that it waited";
  stopped.place = "1";  // so long ago: when this machine was started
  server->ask({"DEL", "afar:queue:{" + name + "}", "afar:past:{" + name + "}"});
  EXPECT_EQ(acquire(*engine, stopped).status.code, errc::broken) << "it arrived anew";
  EXPECT_EQ(keys_like("afar:queue:{" + name + "}"), 0U);
}

}  // namespace
}  // namespace afar::test
