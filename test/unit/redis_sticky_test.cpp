// Sticky leases on a real server: what is asked for, who is asked for it back, and what others see.
#include "redis_fixture.hpp"
#include "support/errors.hpp"

#include <afar/afar.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace afar::test {
namespace {

// ---- the steps ----------------------------------------------------------------------------------

class redis_sticky : public redis_test {
 protected:
  spi::claim lingering(std::uint64_t n, std::uint32_t tokens = 1'000) const {
    spi::claim a = claim_of(n, name);
    a.linger = 5ms;
    a.handoffs = tokens;
    a.lease = 3s;
    a.note = "host=here\n";
    return a;
  }
  std::uint64_t clock() const {
    const auto text = server->ask(
        {"EVAL", "local t = redis.call('TIME') return t[1] .. string.format('%06d', t[2])", "0"});
    return std::stoull(text.substr(text.find('\n') + 1));
  }
  bool is_free() const { return server->ask({"EXISTS", name}) == ":0\r\n"; }
};

TEST_F(redis_sticky, a_refusal_asks_for_it_on_the_channel_of_its_client) {
  auto mine = lingering(1);
  ASSERT_TRUE(acquire(*engine, mine).reply.granted);
  recording_host there;
  const auto other = open_engine(server->url(), there);
  const auto refused = acquire(*other, 2, name);
  ASSERT_FALSE(refused.reply.granted);
  EXPECT_TRUE(eventually([&] { return up.asks_for(owner(1)) == 1; }));
  EXPECT_EQ(there.asks_for(owner(1)), 0) << "nobody else is told";
  release(*engine, 1, name);
  EXPECT_TRUE(eventually([&] { return there.grant_of(owner(2)).granted; }));
}

TEST_F(redis_sticky, a_try_asks_too_and_says_so) {
  auto mine = lingering(1);
  ASSERT_TRUE(acquire(*engine, mine).reply.granted);
  auto tries = claim_of(2, name);
  tries.queue = false;
  const auto refused = acquire(*engine, tries).reply;
  EXPECT_FALSE(refused.granted);
  EXPECT_TRUE(refused.asked);
  EXPECT_TRUE(eventually([&] { return up.asks_for(owner(1)) == 1; }));
}

TEST_F(redis_sticky, one_who_wants_to_keep_it_himself_asks_too) {
  auto mine = lingering(1);
  ASSERT_TRUE(acquire(*engine, mine).reply.granted);
  auto theirs = lingering(2);
  ASSERT_FALSE(acquire(*engine, theirs).reply.granted);
  EXPECT_TRUE(eventually([&] { return up.asks_for(owner(1)) == 1; }));
}

TEST_F(redis_sticky, nobody_is_asked_for_a_hold_that_does_not_linger) {
  auto mine = claim_of(1, name);
  mine.note = "label= ?x y\n";
  ASSERT_TRUE(acquire(*engine, mine).reply.granted);
  auto tries = claim_of(2, name);
  tries.queue = false;
  EXPECT_FALSE(acquire(*engine, tries).reply.asked);
  EXPECT_FALSE(acquire(*engine, 3, name).reply.granted);
  release(*engine, 1, name);
  EXPECT_TRUE(told(3));  // on the same channel, after anything else
  EXPECT_EQ(up.asks_for(owner(1)), 0);
}

TEST_F(redis_sticky, a_renewal_that_does_not_linger_ends_the_asking) {
  auto mine = lingering(1);
  ASSERT_TRUE(acquire(*engine, mine).reply.granted);
  mine.linger = 0ms;
  spi::claim* one[] = {&mine};
  std::promise<void> renewed;
  engine->renew(one, never, [&](std::size_t, const spi::status& s, const spi::renew_reply& r) {
    EXPECT_FALSE(s) << s.detail.str();
    EXPECT_EQ(r.why, loss::none);
    renewed.set_value();
  });
  renewed.get_future().get();
  auto tries = claim_of(2, name);
  tries.queue = false;
  EXPECT_FALSE(acquire(*engine, tries).reply.asked);
}

TEST_F(redis_sticky, a_block_has_a_token_for_each_microsecond_and_none_ahead_of_the_clock) {
  const auto first = acquire(*engine, 1, name).reply;
  release(*engine, 1, name);
  auto mine = lingering(2, 1U << 19);
  const auto got = acquire(*engine, mine).reply;
  ASSERT_TRUE(got.granted);
  EXPECT_EQ(got.token, first.last_token + 1);
  EXPECT_LE(got.last_token, clock());
  release(*engine, 2, name);
  EXPECT_TRUE(eventually([&] { return clock() > got.last_token + 1'000; }));
  auto few = lingering(3, 100);
  const auto limited = acquire(*engine, few).reply;
  EXPECT_EQ(limited.token, got.last_token + 1);
  EXPECT_EQ(limited.last_token, limited.token + 100);
  release(*engine, 3, name);
  EXPECT_EQ(acquire(*engine, 4, name).reply.token, limited.last_token + 1);
}

TEST_F(redis_sticky, a_token_of_before_the_connection_does_not_count) {
  server->ask({"SET", "redisson_lock_token:{" + name + "}", "1600000000000000"});
  auto mine = lingering(1);
  const auto before = clock();
  const auto got = acquire(*engine, mine).reply;
  EXPECT_GE(got.token, before);
  EXPECT_LE(got.last_token, clock());
}

TEST_F(redis_sticky, asked_again_because_the_answer_was_lost_it_is_the_same_grant) {
  auto mine = lingering(1);
  const auto got = acquire(*engine, mine).reply;
  const auto again = acquire(*engine, mine).reply;
  EXPECT_TRUE(again.granted);
  EXPECT_EQ(again.token, got.token);
  EXPECT_EQ(again.last_token, got.last_token);
}

TEST_F(redis_sticky, a_survey_shows_the_note_without_the_channel) {
  auto mine = lingering(1);
  acquire(*engine, mine);
  auto theirs = lingering(2);
  acquire(*engine, theirs);
  const auto seen = survey(*engine, {.name = name});
  ASSERT_EQ(seen.entries.size(), 1U);
  ASSERT_EQ(seen.entries[0].holders.size(), 1U);
  EXPECT_EQ(seen.entries[0].holders[0].note, "host=here\n");
  ASSERT_EQ(seen.entries[0].waiters.size(), 1U);
  EXPECT_EQ(seen.entries[0].waiters[0].note, "host=here\n");
}

// ---- clients ------------------------------------------------------------------------------------

class redis_sticky_clients : public redis_sticky {
 protected:
  static std::string url(const std::string& linger = "100ms") {
    return server->url() + "?sticky=" + linger;
  }
  const client one{url()};
  mutex lock{one, name};

  // Uses it until it stays; true: nobody uses it now, and it is ours. (A machine that is busy with other things
  // may be too slow, so that its time is over.)
  static bool keep(const client& c, mutex& m) {
    return eventually([&] {
      const auto before = c.stats().reused;
      for (int i = 0; i < 20; ++i) {
        m.lock();
        m.unlock();
      }
      return c.stats().reused > before + 10;
    });
  }
  bool keep() { return keep(one, lock); }
};

TEST_F(redis_sticky_clients, lock_again_without_a_request) {
  ASSERT_TRUE(keep());
  EXPECT_TRUE(eventually([&] {
    const auto before = one.stats();
    for (int i = 0; i < 1'000; ++i) {
      lock.lock();
      lock.unlock();
    }
    const auto after = one.stats();
    EXPECT_EQ(after.acquired - before.acquired, 1'000U);
    EXPECT_EQ(after.released - before.released, 1'000U);
    return after.steps - before.steps < 100;
  }));
}

TEST_F(redis_sticky_clients, do_not_stick_by_default) {
  const client other{server->url()};
  mutex m{other, name};
  for (int i = 0; i < 50; ++i) {
    m.lock();
    m.unlock();
  }
  EXPECT_EQ(other.stats().reused, 0U);
  EXPECT_TRUE(eventually([&] { return is_free(); }));
}

TEST_F(redis_sticky_clients, have_tokens_that_grow_for_thousands_of_times_and_between_clients) {
  const client two{url("5ms")};
  const client plain{server->url()};
  mutex second{two, name};
  mutex third{plain, name};
  std::uint64_t newest = 0;
  for (int round = 0; round < 20; ++round)
    for (auto* m : {&lock, &second, &third})
      for (int i = 0; i < (m == &third ? 5 : 1'000); ++i) {
        m->lock();
        ASSERT_GT(m->token(), newest) << round << ' ' << i;
        newest = m->token();
        ASSERT_TRUE(m->valid());
        m->unlock();
      }
  EXPECT_GT(one.stats().reused, 0U);
  EXPECT_LE(newest, clock()) << "ahead of the clock";
}

TEST_F(redis_sticky_clients, give_it_back_when_another_wants_it_although_nobody_uses_it) {
  const client two{server->url()};
  mutex other{two, name};
  nanoseconds fastest = 1h;
  EXPECT_TRUE(eventually([&] {
    if (!keep()) return false;
    const auto begin = boot_clock::now();
    other.lock();
    fastest = std::min<nanoseconds>(fastest, boot_clock::now() - begin);
    other.unlock();
    return fastest < 20ms;  // it would stay for 100 ms
  })) << fastest.count();
}

TEST_F(redis_sticky_clients, give_what_is_in_use_to_another_at_the_next_unlock) {
  const client two{server->url()};
  mutex other{two, name};
  ASSERT_TRUE(keep());
  lock.lock();
  const auto mine = lock.token();
  std::jthread waits{[&] {
    other.lock();
    EXPECT_GT(other.token(), mine);
    other.unlock();
  }};
  ASSERT_TRUE(eventually([&] { return two.stats().waited == 1; }));
  EXPECT_TRUE(lock.valid());
  EXPECT_FALSE(lock.lost().stop_requested());
  EXPECT_EQ(two.stats().acquired, 0U);
  lock.unlock();
  EXPECT_TRUE(eventually([&] { return two.stats().acquired == 1; }));
}

TEST_F(redis_sticky_clients, give_it_to_one_who_only_tries) {
  const client two{server->url()};
  mutex other{two, name};
  EXPECT_TRUE(eventually([&] { return keep() && other.try_lock(); }));
}

// Other libraries do not ask, and a message may be lost.
TEST_F(redis_sticky_clients, give_it_back_after_its_time_if_nobody_asks) {
  ASSERT_TRUE(keep());
  EXPECT_TRUE(eventually([&] { return is_free(); }));
  const auto counted = one.stats();
  EXPECT_EQ(counted.lost, 0U);
  EXPECT_EQ(counted.released, counted.acquired);
}

TEST_F(redis_sticky_clients, hand_over_although_the_message_that_asks_for_it_is_lost) {
  const client two{server->url()};
  mutex other{two, name};
  ASSERT_TRUE(keep());
  server->ask({"CLIENT", "KILL", "TYPE", "pubsub"});
  EXPECT_TRUE(other.try_lock_for(5s));
}

TEST_F(redis_sticky_clients, leave_nothing_behind_when_they_close) {
  {
    const client brief{url()};
    mutex m{brief, name};
    ASSERT_TRUE(keep(brief, m));
  }
  EXPECT_TRUE(is_free());
}

TEST_F(redis_sticky_clients, really_release_what_somebody_waits_for) {
  ASSERT_TRUE(keep());
  lock.lock();
  std::error_code ec;
  lock.unlock(ec);
  EXPECT_FALSE(ec);
  EXPECT_TRUE(is_free());
}

TEST_F(redis_sticky_clients, are_shown_as_holders_of_what_they_keep) {
  EXPECT_TRUE(eventually([&] {
    if (!keep()) return false;
    const auto seen = survey(*engine, {.name = name});
    return seen.entries.size() == 1 && seen.entries[0].holders.size() == 1 &&
           seen.entries[0].holders[0].note.starts_with("host=");
  }));
}

TEST_F(redis_sticky_clients, have_a_short_lease_on_what_they_keep) {
  EXPECT_TRUE(eventually([&] {
    if (!keep()) return false;
    const auto left = server->ask({"PTTL", name});
    const auto ms = std::stol(left.substr(1));
    EXPECT_LE(ms, 3'000);
    return ms > 0;
  }));
}

TEST_F(redis_sticky_clients, learn_of_an_eviction_before_long) {
  ASSERT_TRUE(keep());
  lock.lock();
  const auto mine = lock.token();
  const auto seen = survey(*engine, {.name = name});
  ASSERT_EQ(seen.entries.size(), 1U);
  const auto& holder = seen.entries[0].holders.at(0);
  const auto gone = answer_of<release_reply>([&](auto done) {
    engine->evict({kind::mutex, name}, holder.owner, holder.token, never, std::move(done));
  });
  EXPECT_EQ(gone.reply, release_reply::released);
  lock.unlock();
  const client two{server->url()};
  mutex other{two, name};
  other.lock();
  EXPECT_GT(other.token(), mine);
  other.unlock();
  EXPECT_TRUE(eventually([&] {
    lock.lock();
    const auto token = lock.token();
    lock.unlock();
    return token > other.token();
  }));
}

TEST_F(redis_sticky_clients, go_on_when_the_server_has_forgotten_everything) {
  ASSERT_TRUE(keep());
  lock.lock();
  const auto before = lock.token();
  lock.unlock();
  server->stop();
  server->start();
  std::uint64_t newest = before;
  EXPECT_TRUE(eventually([&] {
    lock.lock();
    EXPECT_GE(lock.token(), newest);
    newest = lock.token();
    lock.unlock();
    return newest > before + 1'000;  // not from the block of before
  }));
  EXPECT_TRUE(keep());
}

TEST_F(redis_sticky_clients, switch_it_off_where_others_want_it_as_often) {
  const client two{url()};
  mutex other{two, name};
  const auto pairs = [](mutex& m) {
    for (int i = 0; i < 300; ++i) {
      m.lock();
      m.unlock();
    }
  };
  std::jthread rival{[&] { pairs(other); }};
  pairs(lock);
  rival.join();
  const auto a = one.stats();
  const auto b = two.stats();
  EXPECT_EQ(a.acquired, 300U);
  EXPECT_EQ(b.acquired, 300U);
  EXPECT_EQ(a.lost + b.lost, 0U);
}

TEST_F(redis_sticky_clients, are_refused_where_it_cannot_be) {
  const auto failed = failure_of([] { client{server->url() + "?layout=redisson&sticky=5ms"}; });
  EXPECT_EQ(failed.code, errc::unsupported);
  EXPECT_NE(failed.message.find("do not ask"), std::string::npos) << failed.message;
}

}  // namespace
}  // namespace afar::test
