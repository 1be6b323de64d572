// Redisson's layout, step by step: what lies on the server is what Java expects, and what Java leaves
// there is respected. The real Redisson is met in test/interop.
#include "redis_fixture.hpp"
#include "support/redis_places.hpp"

#include <afar/afar.hpp>

#include <cstdio>
#include <future>
#include <string>

namespace afar::test {
namespace {

using spi::access;

class redis_redisson : public redis_test {
 protected:
  redis_redisson() { engine = open_engine(server->url() + "?layout=redisson", up); }

  answered<spi::acquire_reply> ask(std::uint64_t n, kind k = kind::mutex,
                                   access mode = access::exclusive, spi::milliseconds lease = 10s) {
    spi::claim a = claim_of(n, name, k);
    a.mode = mode;
    a.lease = lease;
    return acquire(*engine, a);
  }
  answered<spi::acquire_reply> ask_permits(std::uint64_t n, std::uint32_t permits,
                                           std::uint32_t limit, spi::milliseconds lease = 10s) {
    spi::claim a = permits_of(n, permits, limit);
    a.lease = lease;
    return acquire(*engine, a);
  }
  spi::claim permits_of(std::uint64_t n, std::uint32_t permits, std::uint32_t limit) {
    spi::claim a = claim_of(n, name, kind::permits);
    a.permits = permits;
    a.limit = limit;
    return a;
  }
  answered<release_reply> let_go(std::uint64_t n, kind k, std::uint32_t permits = 1) {
    spi::claim a = claim_of(n, name, k);
    a.permits = permits;
    return answer_of<release_reply>([&](auto done) { engine->release(a, never, std::move(done)); });
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
  std::string get(const std::vector<std::string>& words) const { return server->ask(words); }
  std::string read_lease(std::uint64_t n) const {
    return "{" + name + "}:" + owner(n).text() + ":rwlock_timeout:1";
  }
  std::size_t waiters() {
    const auto all = survey(*engine, {.name = name});
    return all.entries.empty() ? 0 : all.entries[0].waiters.size();
  }
};

// ---- as Java sees it ----------------------------------------------------------------------------

TEST_F(redis_redisson, mutex_is_rlocks_hash_with_a_count_of_one) {
  ASSERT_TRUE(ask(1).reply.granted);
  EXPECT_TRUE(ask(1).reply.granted) << "a repeated step";
  EXPECT_EQ(get({"HGET", name, owner(1).text()}), "$1\r\n1\r\n");
  EXPECT_EQ(release(*engine, 1, name).reply, release_reply::released);
  EXPECT_EQ(keys_like("*" + name + "*"), 1U) << "only the token stays";
}

TEST_F(redis_redisson, reader_is_a_field_and_a_key_with_its_lease) {
  ASSERT_TRUE(ask(1, kind::shared_mutex, access::shared).reply.granted);
  EXPECT_EQ(get({"HGET", name, "mode"}), "$4\r\nread\r\n");
  EXPECT_EQ(get({"HGET", name, owner(1).text()}), "$1\r\n1\r\n");
  EXPECT_EQ(get({"HLEN", name}), ":2\r\n") << "Java counts the fields";
  EXPECT_EQ(get({"EXISTS", read_lease(1)}), ":1\r\n");
  EXPECT_EQ(let_go(1, kind::shared_mutex).reply, release_reply::released);
  EXPECT_EQ(keys_like("*" + name + "*"), 1U);
}

TEST_F(redis_redisson, writer_is_a_field_of_its_own) {
  ASSERT_TRUE(ask(1, kind::shared_mutex).reply.granted);
  EXPECT_EQ(get({"HGET", name, "mode"}), "$5\r\nwrite\r\n");
  EXPECT_EQ(get({"HGET", name, owner(1).text() + ":write"}), "$1\r\n1\r\n");
  EXPECT_EQ(get({"HLEN", name}), ":2\r\n");
}

TEST_F(redis_redisson, permits_are_a_counter_and_members_of_16_bytes) {
  ASSERT_TRUE(ask_permits(1, 2, 5).reply.granted);
  EXPECT_EQ(get({"GET", name}), "$1\r\n3\r\n");
  EXPECT_EQ(get({"ZCARD", "{" + name + "}:timeout"}), ":2\r\n");
  EXPECT_TRUE(get({"ZRANGE", "{" + name + "}:timeout", "0", "0"}).starts_with("*1\r\n$16\r\n"));
  EXPECT_EQ(let_go(1, kind::permits, 2).reply, release_reply::released);
  EXPECT_EQ(get({"GET", name}), "$1\r\n5\r\n");
  EXPECT_EQ(let_go(1, kind::permits, 2).reply, release_reply::gone);
  EXPECT_EQ(get({"GET", name}), "$1\r\n5\r\n") << "given back once";
}

TEST_F(redis_redisson, fair_waiter_stands_in_rfairlocks_line_with_a_short_clock) {
  ASSERT_TRUE(ask(1, kind::fair_mutex).reply.granted);
  ASSERT_FALSE(ask(2, kind::fair_mutex).reply.granted);
  EXPECT_NE(get({"LRANGE", "redisson_lock_queue:{" + name + "}", "0", "-1"}).find(owner(2).text()),
            std::string::npos);
  const std::string score =
      get({"ZSCORE", "redisson_lock_timeout:{" + name + "}", owner(2).text()});
  const std::string time = get({"TIME"});  // *2, $10, seconds, …
  const auto ends = std::stoll(score.substr(score.find('\n') + 1)) / 1000;
  const auto now = std::stoll(time.substr(time.find('\n', time.find('$')) + 1));
  EXPECT_GE(ends, now);
  EXPECT_LE(ends, now + 4) << "seconds, not minutes";
}

TEST_F(redis_redisson, speaks_only_decimal_numbers_on_redissons_channels) {
  auto own = std::make_unique<redis_server>();
  const std::string listen =
      "redis-cli -p " + std::to_string(own->port()) + " PSUBSCRIBE 'redisson_*'";
  std::FILE* heard = ::popen(listen.c_str(), "r");
  ASSERT_TRUE(eventually([&] { return own->ask({"PUBSUB", "NUMPAT"}) == ":1\r\n"; }));
  {
    const client one{own->url() + "?layout=redisson"};
    const client two{own->url() + "?layout=redisson"};
    for (const client* c : {&one, &two}) {
      mutex{*c, "m"}.acquire().release();
      election{*c, "e"}.campaign("who").release();
      fair_mutex{*c, "f"}.acquire().release();
      shared_mutex book{*c, "s"};
      hold h = book.acquire();
      book.downgrade(h);
      h.release();
      leased_semaphore{*c, "p", 2}.acquire(2).release();
      counting_semaphore<> gate{*c, "h", 1};
      gate.acquire();
      gate.release();
      latch{*c, "l", 2}.count_down();
    }
    hold held = fair_mutex{one, "f"}.acquire();
    EXPECT_FALSE(fair_mutex(two, "f").try_lock_for(20ms));
  }
  own.reset();  // ends redis-cli
  std::string all;
  for (char line[1024]; std::fgets(line, sizeof line, heard);) all += line;
  ::pclose(heard);
  std::size_t messages = 0;
  for (std::size_t at = 0; (at = all.find("pmessage\nredisson_*\n", at)) != std::string::npos;) {
    at = all.find('\n', all.find("redisson_*\n", at) + 11) + 1;  // behind the channel
    const std::string text = all.substr(at, all.find('\n', at) - at);
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find_first_not_of("0123456789"), std::string::npos) << text;
    ++messages;
  }
  EXPECT_GE(messages, 10U) << all;
}

// ---- what Java leaves there ---------------------------------------------------------------------

TEST_F(redis_redisson, respects_a_java_holder_that_counts_two) {
  get({"HSET", name, "4b6f-uuid:1", "2"});
  get({"PEXPIRE", name, "60000"});
  EXPECT_FALSE(ask(1).reply.granted);
  EXPECT_FALSE(ask(1, kind::fair_mutex).reply.granted);
  EXPECT_EQ(get({"HGET", name, "4b6f-uuid:1"}), "$1\r\n2\r\n");
  const auto seen = survey(*engine, {.name = name});
  ASSERT_EQ(seen.entries.size(), 1U);
  EXPECT_EQ(seen.entries[0].holders.size(), 1U);
}

TEST_F(redis_redisson, collects_a_reader_of_java_whose_lease_is_over) {
  get({"HSET", name, "mode", "read", "4b6f-uuid:1", "1"});
  get({"PEXPIRE", name, "60000"});
  EXPECT_TRUE(ask(1, kind::shared_mutex).reply.granted) << "its key of time is not there";
}

TEST_F(redis_redisson, leaves_the_time_limit_of_javas_keys_alone) {
  get({"SET", name, "3"});
  get({"SET", "redisson_lock_token:{" + name + "}", "41"});
  const auto got = ask_permits(1, 1, 3);
  ASSERT_TRUE(got.reply.granted) << got.status.detail.str();
  EXPECT_EQ(get({"PTTL", name}), ":-1\r\n");
  EXPECT_EQ(get({"PTTL", "redisson_lock_token:{" + name + "}"}), ":-1\r\n");
  EXPECT_EQ(ask_permits(2, 1, 4).status.code, errc::wrong_use);
}

TEST_F(redis_redisson, keeps_its_place_when_java_takes_its_time_off_the_line) {
  const std::string line = "redisson_lock_queue:{" + name + "}";
  const std::string times = "redisson_lock_timeout:{" + name + "}";
  ASSERT_TRUE(ask(1, kind::fair_mutex).reply.granted);
  get({"RPUSH", line, "4b6f-uuid:1"});
  get({"ZADD", times, "99999999999999", "4b6f-uuid:1"});
  ASSERT_FALSE(ask(2, kind::fair_mutex).reply.granted);
  // What Java does when its waiter takes the lock.
  get({"LPOP", line});
  get({"ZREM", times, "4b6f-uuid:1"});
  get({"ZINCRBY", times, "-300000", owner(2).text()});
  const std::string score = get({"ZSCORE", times, owner(2).text()});
  const std::string time = get({"TIME"});
  EXPECT_GE(std::stoll(score.substr(score.find('\n') + 1)) / 1000,
            std::stoll(time.substr(time.find('\n', time.find('$')) + 1)));
}

// ---- the two layouts, and other kinds -----------------------------------------------------------

TEST_F(redis_redisson, and_afars_layout_refuse_each_other_loudly) {
  recording_host other_up;
  auto afars = open_engine(server->url(), other_up);
  const auto in = [](spi::engine& e, const std::string& what, kind k) {
    spi::claim a = claim_of(1, what, k);
    a.limit = 3;
    return acquire(e, a);
  };
  for (const kind k :
       {kind::mutex, kind::fair_mutex, kind::shared_mutex, kind::permits, kind::election}) {
    const std::string a = name + "/a/" + std::string{spi::word(k)};
    ASSERT_TRUE(in(*afars, a, k).reply.granted);
    const auto here = in(*engine, a, k);
    EXPECT_EQ(here.status.code, errc::wrong_use) << spi::word(k);
    EXPECT_NE(here.status.detail.str().find("without ?layout=redisson"), std::string::npos)
        << here.status.detail.str();
    const std::string r = name + "/r/" + std::string{spi::word(k)};
    ASSERT_TRUE(in(*engine, r, k).reply.granted);
    const auto there = in(*afars, r, k);
    EXPECT_EQ(there.status.code, errc::wrong_use) << spi::word(k);
    EXPECT_NE(there.status.detail.str().find("?layout=redisson"), std::string::npos)
        << there.status.detail.str();
  }
}

TEST_F(redis_redisson, tells_a_stock_from_a_lock) {
  get({"HSET", name, "stock", "5"});
  for (const kind k : {kind::mutex, kind::shared_mutex}) {
    const auto got = ask(1, k);
    EXPECT_EQ(got.status.code, errc::wrong_use);
    EXPECT_NE(got.status.detail.str().find("is a stock"), std::string::npos)
        << got.status.detail.str();
  }
}

TEST_F(redis_redisson, refuses_another_kind) {
  ASSERT_TRUE(ask(1, kind::fair_mutex).reply.granted);
  EXPECT_NE(ask(2, kind::mutex).status.detail.str().find("fair_mutex"), std::string::npos);
  EXPECT_NE(ask(2, kind::shared_mutex).status.detail.str().find("fair_mutex"), std::string::npos);
  EXPECT_NE(ask_permits(2, 1, 1).status.detail.str().find("fair_mutex"), std::string::npos);
}

TEST_F(redis_redisson, refuses_more_permits_at_once_than_a_script_should_write) {
  EXPECT_EQ(ask_permits(1, 1'001, 5'000).status.code, errc::bad_argument);
}

// ---- the line -----------------------------------------------------------------------------------

TEST_F(redis_redisson, serves_its_own_waiters_in_order) {
  ASSERT_TRUE(ask(1).reply.granted);
  const auto refused = ask(2);
  EXPECT_EQ(refused.reply.watch_key, "sredisson_lock__channel:{" + name + "}");
  ASSERT_FALSE(ask(3).reply.granted);
  release(*engine, 1, name);
  EXPECT_FALSE(ask(3).reply.granted);
  EXPECT_FALSE(ask(4).reply.granted);
  EXPECT_TRUE(ask(2).reply.granted);
}

TEST_F(redis_redisson, skips_the_dead_and_those_who_left) {
  ASSERT_TRUE(ask(1).reply.granted);
  ASSERT_FALSE(
      ask(2, kind::mutex, access::exclusive, 30ms).reply.granted);  // its place is as short
  ASSERT_FALSE(ask(3).reply.granted);
  ASSERT_FALSE(ask(4).reply.granted);
  ASSERT_TRUE(eventually([&] { return waiters() == 2; }));
  EXPECT_EQ(release(*engine, 3, name).reply, release_reply::released);
  release(*engine, 1, name);
  EXPECT_TRUE(ask(4).reply.granted);
}

TEST_F(redis_redisson, waiting_writer_keeps_later_readers_out_until_it_leaves) {
  constexpr kind s = kind::shared_mutex;
  ASSERT_TRUE(ask(1, s, access::shared).reply.granted);
  ASSERT_FALSE(ask(2, s).reply.granted);
  EXPECT_FALSE(ask(3, s, access::shared).reply.granted);
  EXPECT_EQ(let_go(2, s).reply, release_reply::released);
  EXPECT_TRUE(ask(3, s, access::shared).reply.granted);
}

TEST_F(redis_redisson, serves_all_permits_that_fit_beside_those_who_came_first) {
  ASSERT_TRUE(ask_permits(1, 4, 4).reply.granted);
  ASSERT_FALSE(ask_permits(2, 2, 4).reply.granted);
  ASSERT_FALSE(ask_permits(3, 2, 4).reply.granted);
  ASSERT_FALSE(ask_permits(4, 1, 4).reply.granted);
  let_go(1, kind::permits, 4);
  EXPECT_TRUE(ask_permits(3, 2, 4).reply.granted);
  EXPECT_FALSE(ask_permits(4, 1, 4).reply.granted) << "number 2 stands before it";
  EXPECT_TRUE(ask_permits(2, 2, 4).reply.granted);
}

TEST_F(redis_redisson, gives_back_permits_of_the_dead_once) {
  ASSERT_TRUE(ask_permits(1, 2, 2, 30ms).reply.granted);
  ASSERT_TRUE(eventually([&] { return ask_permits(2, 2, 2).reply.granted; }));
  EXPECT_EQ(let_go(1, kind::permits, 2).reply, release_reply::gone);
  EXPECT_EQ(get({"GET", name}), "$1\r\n0\r\n");
}

// ---- faults -------------------------------------------------------------------------------------

TEST_F(redis_redisson, renews_and_releases_when_the_server_is_full) {
  spi::claim lock = claim_of(1, name);
  const std::string book = name + "/book";
  spi::claim reader = claim_of(1, book, kind::shared_mutex);
  reader.mode = access::shared;
  ASSERT_TRUE(acquire(*engine, lock).reply.granted);
  ASSERT_TRUE(acquire(*engine, reader).reply.granted);
  get({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(renewed(lock).why, loss::none);
  EXPECT_EQ(renewed(reader).why, loss::none);
  EXPECT_EQ(acquire(*engine, 3, name + "/new").status.code, errc::no_room);
  EXPECT_EQ(release(*engine, 1, name).reply, release_reply::released);
  EXPECT_EQ(answer_of<release_reply>([&](auto done) {
              engine->release(reader, never, std::move(done));
            }).reply,
            release_reply::released);
  get({"CONFIG", "SET", "maxmemory", "0"});
}

// The rule of docs/engines/redis.md: afar's, and what this layout has beside it.
TEST_F(redis_redisson, needs_no_more_rights_than_documented) {
  const redis_server own;
  std::vector<std::string> rule = least_rights("worker", "pw", "app:");
  for (const char* more :
       {"~{app:*", "~redisson_lock_queue:{app:*", "~redisson_lock_timeout:{app:*",
        "&redisson_lock__channel:{app:*", "&redisson_rwlock:{app:*", "+hkeys", "+decrby", "+zcard",
        "+zrevrange", "+rpush", "+lpop", "+lrem", "+lindex", "+llen", "+lrange"})
    rule.emplace_back(more);
  ASSERT_EQ(own.ask(rule), "+OK\r\n");
  const std::string url =
      "redis://worker:pw@127.0.0.1:" + std::to_string(own.port()) + "?layout=redisson&prefix=app:";
  const client one{url};
  const client two{url};
  hold lock = mutex{one, "m"}.acquire();
  EXPECT_FALSE(mutex(two, "m").try_lock_for(20ms));
  hold fair = fair_mutex{one, "f"}.acquire();
  EXPECT_FALSE(fair_mutex(two, "f").try_lock_for(20ms));
  shared_mutex book{one, "s"};
  hold reader = book.acquire_shared();
  EXPECT_TRUE(book.try_upgrade(reader));
  book.downgrade(reader);
  EXPECT_FALSE(shared_mutex(two, "s").try_lock_for(20ms));
  hold seats = leased_semaphore{one, "p", 3}.acquire(2);
  EXPECT_EQ(survey(two).size(), 4U);
  EXPECT_TRUE(evict(two, "m", lock.token()));
  for (hold* h : {&fair, &reader, &seats}) EXPECT_NO_THROW(h->release());
  EXPECT_EQ(own.ask({"ACL", "LOG"}), "*0\r\n");
}

TEST_F(redis_redisson, calls_a_fair_lock_that_is_lost_gone) {
  ASSERT_TRUE(ask(1, kind::fair_mutex).reply.granted);
  get({"DEL", name});
  EXPECT_EQ(let_go(1, kind::fair_mutex).reply, release_reply::gone);
}

TEST_F(redis_redisson, keeps_tokens_growing_when_everything_is_lost) {
  const auto before = ask(1).reply.token;
  get({"FLUSHALL"});
  EXPECT_GT(ask(2).reply.token, before);
}

TEST_F(redis_redisson, tells_the_victim_of_an_eviction) {
  for (const kind k : {kind::mutex, kind::shared_mutex, kind::permits}) {
    const std::string what = name + "/" + std::string{spi::word(k)};
    spi::claim a = claim_of(1, what, k);
    a.token = acquire(*engine, a).reply.token;
    EXPECT_EQ(answer_of<release_reply>([&](auto done) {
                engine->evict(a.what, a.owner, a.token, never, std::move(done));
              }).reply,
              release_reply::released);
    EXPECT_EQ(renewed(a).why, loss::evicted) << spi::word(k);
  }
}

}  // namespace
}  // namespace afar::test
