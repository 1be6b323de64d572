// What stays with its client after its use, over an engine whose answers the test gives by hand.
#include "scripted_engine.hpp"

#include <gtest/gtest.h>

#include <future>

namespace {

using namespace afar;
using namespace afar::test;

// Keeps for as long as the test likes: nothing here depends on how fast the machine is.
struct keeping : scripted {
  explicit keeping(std::chrono::milliseconds linger = 1h) : scripted(30s, 2, linger) {}
  ~keeping() {
    auto closing = std::async(std::launch::async, [this] { core->close(); });
    while (closing.wait_for(1ms) != std::future_status::ready)
      while (released() > 0) confirm_release();
  }

  hold_ptr acquire(detail::claim_request r) const {
    spi::status s;
    auto h = core->acquire(std::move(r), s);
    EXPECT_FALSE(s) << s.code.message();
    return h;
  }
  hold_ptr acquire() { return acquire(request()); }
  // The first one is one like any other, the second one can be kept.
  hold_ptr acquire_twice(std::uint64_t token, std::uint64_t last) {
    const auto first = acquire_granted(token - 1);
    EXPECT_EQ(engine->last_wish().linger, 0ms) << "nobody knows yet whether it is locked again";
    first->end({});
    confirm_release();
    auto second = acquire_granted(token, last);
    EXPECT_GT(engine->last_wish().linger, 0ms);
    return second;
  }
  spi::owner_id owner_of(const hold_ptr& h) const { return h->claim().owner; }
  std::size_t released() { return engine->count(engine->releases); }
  std::size_t asked() { return engine->count(engine->acquires); }
};

TEST(hold_keeping, is_off_unless_somebody_wants_it) {
  scripted s;
  for (std::uint64_t i = 1; i < 4; ++i) {
    const auto h = s.acquire_granted(i, i + 3);
    EXPECT_EQ(s.engine->last_wish().linger, 0ms);
    h->end({});
    s.confirm_release();
  }
  EXPECT_EQ(s.core->stats().read().reused, 0U);
}

TEST(hold_keeping, takes_it_again_with_the_next_token_and_without_the_engine) {
  keeping s;
  auto h = s.acquire_twice(10, 100);
  EXPECT_EQ(h->token(), 10U);
  for (std::uint64_t i = 11; i < 30; ++i) {
    std::exchange(h, nullptr)->end({});
    h = s.acquire();
    EXPECT_EQ(h->token(), i);
    EXPECT_TRUE(h->valid());
    EXPECT_FALSE(h->lost().stop_requested());
  }
  EXPECT_EQ(s.released(), 0U);
  EXPECT_EQ(s.asked(), 0U);
  EXPECT_EQ(s.core->stats().read().reused, 19U);
  EXPECT_EQ(s.core->stats().read().acquired, 21U);
  EXPECT_EQ(s.core->stats().read().released, 20U);
  EXPECT_GT(s.engine->glances, 0);
  h->end({});
}

TEST(hold_keeping, has_a_short_lease_because_nobody_may_be_using_it) {
  keeping s;
  const auto h = s.acquire_twice(10, 100);
  EXPECT_EQ(s.engine->last_wish().lease, s.engine->traits.waiter_lease);
  EXPECT_GE(s.engine->last_wish().handoffs, 64U);
  h->end({});
}

TEST(hold_keeping, gives_back_at_once_what_nobody_uses_when_it_is_asked) {
  keeping s;
  const auto h = s.acquire_twice(10, 100);
  h->end({});
  EXPECT_EQ(s.released(), 0U);
  s.engine->host.asked(s.owner_of(h));
  EXPECT_EQ(s.released(), 1U);
  s.confirm_release();
  const auto counted = s.core->stats().read();
  EXPECT_EQ(counted.released, 2U) << "once for each unlock";
  EXPECT_EQ(counted.lost, 0U);
  const auto next = s.acquire_granted(101);
  EXPECT_EQ(s.engine->last_wish().linger, 0ms) << "it was in vain";
  next->end({});
}

TEST(hold_keeping, gives_back_what_is_in_use_at_the_next_unlock) {
  keeping s;
  const auto h = s.acquire_twice(10, 100);
  s.engine->host.asked(s.owner_of(h));
  EXPECT_TRUE(h->valid());
  EXPECT_FALSE(h->lost().stop_requested()) << "that is nothing that a user has to know";
  EXPECT_EQ(s.released(), 0U);
  h->end({});
  EXPECT_EQ(s.released(), 1U);
}

// Who has not heard for a while may not have heard that somebody asked; and a server that was restarted may have
// forgotten the hold.
TEST(hold_keeping, gives_everything_back_after_a_silence_and_when_it_is_in_doubt) {
  for (const auto tell :
       {+[](spi::host& h) { h.wake_all(); }, +[](spi::host& h) { h.in_doubt(); }}) {
    keeping s;
    const auto h = s.acquire_twice(10, 100);
    h->end({});
    tell(s.engine->host);
    EXPECT_EQ(s.released(), 1U);
  }
}

TEST(hold_keeping, hears_that_it_is_wanted_before_it_knows_that_it_has_it) {
  keeping s;
  const auto first = s.acquire_granted(9);
  first->end({});
  s.confirm_release();
  auto waiting = std::async(std::launch::async, [&] { return s.acquire(); });
  auto question = s.engine->next(s.engine->acquires);
  s.engine->host.asked(question.owner);
  question.done({}, {.granted = true, .token = 10, .last_token = 100});
  waiting.get()->end({});
  EXPECT_EQ(s.released(), 1U);
}

TEST(hold_keeping, does_not_keep_what_it_had_to_wait_for) {
  keeping s;
  const auto first = s.acquire_granted(9);
  first->end({});
  s.confirm_release();
  auto waiting = std::async(std::launch::async, [&] { return s.acquire(); });
  auto question = s.engine->next(s.engine->acquires);
  const auto owner = question.owner;
  question.done({}, {.token = 9, .watch_key = "k"});
  ASSERT_TRUE(eventually([&] { return s.engine->watched == 1; }));
  s.engine->host.granted(owner, 10, 100, 3s);
  waiting.get()->end({});
  EXPECT_EQ(s.released(), 1U);
}

TEST(hold_keeping, gives_back_what_was_not_used_for_its_time) {
  keeping s{50ms};
  auto h = s.acquire_granted(1);
  for (std::uint64_t token = 200; s.engine->last_wish().linger == 0ms; token += 100) {
    h->end({});  // again, if the machine was too slow
    s.confirm_release();
    h = s.acquire_granted(token, token + 99);
  }
  const auto before = boot_clock::now();
  h->end({});
  s.confirm_release();  // waits for it
  EXPECT_GE(boot_clock::now() - before, 50ms);
}

TEST(hold_keeping, gives_back_what_is_used_again_and_again_after_some_time) {
  keeping s{10ms};  // 100 ms at most
  auto h = s.acquire_granted(1);
  std::uint64_t token = 1'000;
  constexpr std::uint64_t enough = 1'000'000'000;
  const auto until = boot_clock::now() + 10s;
  std::jthread server([&](const std::stop_token& over) {
    while (!over.stop_requested() && boot_clock::now() < until) {
      while (s.asked() > 0) {
        token += 2 * enough;
        s.grant(token, token + enough);
      }
      while (s.released() > 0) s.confirm_release();
      std::this_thread::sleep_for(100us);
    }
  });
  const auto reused = [&] { return s.core->stats().read().reused; };
  while (reused() < 10 && boot_clock::now() < until) {
    h->end({});
    h = s.acquire();
  }
  ASSERT_GE(reused(), 10U);
  const auto owner = s.owner_of(h);
  const auto begin = boot_clock::now();
  while (s.owner_of(h) == owner && boot_clock::now() < until) {
    h->end({});
    h = s.acquire();
  }
  EXPECT_NE(s.owner_of(h), owner) << "it stayed for ever";
  EXPECT_GT(boot_clock::now() - begin, 10ms) << "not for long";
  h->end({});
}

TEST(hold_keeping, gives_back_what_has_no_more_tokens) {
  keeping s;
  auto h = s.acquire_twice(10, 11);
  h->end({});
  h = s.acquire();
  EXPECT_EQ(h->token(), 11U);
  h->end({});
  EXPECT_EQ(s.released(), 1U);
}

TEST(hold_keeping, waits_for_the_engine_when_the_user_does) {
  keeping s;
  const auto h = s.acquire_twice(10, 100);
  EXPECT_FALSE(h->end_awaited().has_value());
  s.confirm_release();
  EXPECT_FALSE(h->await_end(boot_clock::now() + 10s));
}

TEST(hold_keeping, gives_back_what_it_keeps_when_the_client_closes) {
  keeping s;
  const auto h = s.acquire_twice(10, 100);
  h->end({});
  auto closing = std::async(std::launch::async, [&] { s.core->close(); });
  s.confirm_release();
  closing.get();
  EXPECT_EQ(s.core->stats().read().lost, 0U);
}

TEST(hold_keeping, tells_nobody_of_the_loss_of_what_nobody_uses) {
  keeping s;
  const auto h = s.acquire_twice(10, 100);
  h->end({});
  h->lose(loss_reason::session);
  EXPECT_EQ(s.core->stats().read().lost, 0U);
  const auto next = s.acquire_granted(101);  // the line is free
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->token(), 101U);
  next->end({});
}

TEST(hold_keeping, tells_the_user_of_a_loss_while_it_is_in_use) {
  keeping s;
  auto h = s.acquire_twice(10, 100);
  h->end({});
  h = s.acquire();
  const auto lost = h->lost();
  h->lose(loss_reason::evicted);
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_EQ(s.core->stats().read().lost, 1U);
  h->end({});
}

TEST(hold_keeping, gives_back_what_does_not_fit_a_request_and_asks_for_that) {
  keeping s;
  const auto h = s.acquire_twice(10, 100);
  h->end({});
  auto other = std::async(std::launch::async, [&] {
    auto r = s.request();
    r.lease = 7s;
    return s.acquire(std::move(r));
  });
  s.confirm_release();
  s.grant(101);
  const auto got = other.get();
  ASSERT_NE(got, nullptr);
  EXPECT_EQ(got->token(), 101U);
  EXPECT_EQ(got->lease(), 7s);
  got->end({});
}

TEST(hold_keeping, gives_a_try_what_it_keeps) {
  keeping s;
  const auto h = s.acquire_twice(10, 100);
  h->end({});
  const auto got = s.acquire(s.request(detail::deadline::no_wait()));
  ASSERT_NE(got, nullptr);
  EXPECT_EQ(got->token(), 11U);
  EXPECT_EQ(s.released(), 0U);
  got->end({});
}

TEST(hold_keeping, gives_an_asynchronous_wait_what_it_keeps) {
  keeping s;
  const auto h = s.acquire_twice(10, 100);
  h->end({});
  hold_ptr got;
  s.core->start_acquire(s.request(), [&](const spi::status&, hold_ptr g) { got = std::move(g); });
  ASSERT_NE(got, nullptr);
  EXPECT_EQ(got->token(), 11U);
  got->end({});
}

TEST(hold_keeping, is_one_like_any_other_once_one_user_had_it_for_long) {
  keeping s;
  const auto first = s.acquire_granted(9);
  first->end({});
  s.confirm_release();
  std::jthread granter([&] {
    s.engine->next(s.engine->acquires)
        .done({}, {.granted = true, .token = 10, .last_token = 100, .lease = 1s});
  });
  const auto h = s.acquire();
  auto r = s.engine->next(s.engine->renewals);
  EXPECT_EQ(r.lease, 30s) << "the whole lease";
  r.each(0, {}, {.lease = 30s});
  ASSERT_TRUE(eventually([&] { return h->valid_until() > boot_clock::now() + 20s; }));
  h->end({});
  EXPECT_EQ(s.released(), 1U);
}

TEST(hold_keeping, does_not_renew_what_nobody_uses) {
  keeping s;
  const auto h = s.acquire_twice(10, 100);
  h->end({});
  EXPECT_EQ(h->prepare_renewal(), nullptr);
  EXPECT_NE(s.acquire(), nullptr);
  EXPECT_NE(h->prepare_renewal(), nullptr);
  h->renewed(errc::unavailable, {}, {});
  h->end({});
}

TEST(hold_keeping, is_for_mutexes_only) {
  keeping s;
  for (const auto k : {spi::kind::fair_mutex, spi::kind::shared_mutex, spi::kind::election})
    for (int i = 0; i < 3; ++i) {
      std::jthread granter([&] { s.grant(10, 100); });
      const auto h = s.acquire({.line = s.core->line(k, "other"), .by = {}});
      EXPECT_EQ(s.engine->last_wish().linger, 0ms);
      h->end({});
      s.confirm_release();
    }
}

TEST(hold_keeping, is_refused_where_the_engine_cannot) {
  detail::settings with;
  with.sticky = 5ms;
  with.url = "scripted:";
  try {
    detail::core(with, [](spi::host& h) {
      auto e = std::make_unique<scripted_engine>(h);
      e->traits.sticky_block = 0;
      e->traits.why_not_sticky = "nobody asks";
      return e;
    });
    FAIL() << "opened";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_NE(std::string(e.what()).find("nobody asks"), std::string::npos) << e.what();
  }
}

TEST(hold_keeping, lets_one_of_many_threads_have_it_at_a_time) {
  keeping s{5ms};
  std::atomic<std::uint64_t> token{0};
  std::jthread server([&](const std::stop_token& over) {
    while (!over.stop_requested() || s.asked() > 0 || s.released() > 0) {
      while (s.asked() > 0) {
        const auto first = token += 100;
        s.grant(first, first + 99);
      }
      while (s.released() > 0) {
        auto r = s.engine->next(s.engine->releases);
        if (r.owner.number % 3 == 0) s.engine->host.asked(r.owner);
        r.done({}, spi::release_reply::released);
      }
      std::this_thread::sleep_for(50us);
    }
  });
  std::atomic<int> inside{0};
  std::atomic<std::uint64_t> newest{0};
  const auto use = [&] {
    for (int i = 0; i < 500; ++i) {
      const auto h = s.acquire();
      EXPECT_EQ(inside.fetch_add(1), 0);
      EXPECT_GT(h->token(), newest.exchange(h->token()));
      if (i % 50 == 0) s.engine->host.asked(s.owner_of(h));
      inside.fetch_sub(1);
      h->end({});
    }
  };
  EXPECT_TRUE(eventually([&] {
    use();  // alone, and not too slow
    return s.core->stats().read().reused > 0;
  }));
  {
    std::vector<std::jthread> users;
    for (int u = 0; u < 4; ++u) users.emplace_back(use);
  }
  server.request_stop();
  server.join();
}

}  // namespace
