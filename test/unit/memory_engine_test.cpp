#include "engines/memory/memory_engine.hpp"

#include "unit/engine_fixture.hpp"

#include <thread>

namespace afar::test {
namespace {

using engines::memory::memory_engine;
using engines::memory::memory_store;
using strings = std::vector<std::string>;

class memory_engine_of_two : public ::testing::Test {
 protected:
  std::shared_ptr<manual_time> time = std::make_shared<manual_time>();
  std::shared_ptr<memory_store> store = std::make_shared<memory_store>(time);
  recording_host host1, host2;
  memory_engine one{store, host1};
  memory_engine two{store, host2};
};

// ---- sharing and waking -------------------------------------------------------------------------

TEST_F(memory_engine_of_two, excludes_another_client) {
  EXPECT_TRUE(acquire(one, 1, "x").reply.granted);
  const auto refused = acquire(two, 2, "x").reply;
  EXPECT_FALSE(refused.granted);
  EXPECT_FALSE(refused.watch_key.empty());
  EXPECT_TRUE(refused.retry_after);
  EXPECT_TRUE(acquire(two, 3, "y").reply.granted);
}

TEST_F(memory_engine_of_two, wakes_exactly_the_next_in_line) {
  acquire(one, 1, "x");
  const std::string key2 = acquire(two, 2, "x").reply.watch_key;
  const std::string key3 = acquire(two, 3, "x").reply.watch_key;
  EXPECT_NE(key2, key3);
  EXPECT_FALSE(watch(two, key2)) << "nothing was missed";
  watch(two, key3);
  release(one, 1, "x");
  EXPECT_EQ(host2.woken(), strings{key2});
  EXPECT_TRUE(host1.woken().empty());
}

TEST_F(memory_engine_of_two, says_that_a_wake_was_missed_before_the_watch) {
  acquire(one, 1, "x");
  const std::string key = acquire(two, 2, "x").reply.watch_key;
  release(one, 1, "x");
  EXPECT_TRUE(watch(two, key));
}

TEST_F(memory_engine_of_two, wakes_nobody_that_does_not_watch_any_more) {
  acquire(one, 1, "x");
  const std::string key = acquire(two, 2, "x").reply.watch_key;
  watch(two, key);
  watch(two, key);
  two.unwatch(key);
  release(one, 1, "x");
  EXPECT_TRUE(host2.woken().empty());
}

TEST_F(memory_engine_of_two, wakes_every_client_that_watches_a_cell) {
  const auto key = change(one, add(1, "n")).reply.watch_key;
  watch(one, key);
  watch(two, key);
  change(two, add(1, "n"));
  EXPECT_EQ(host1.woken(), strings{key});
  EXPECT_EQ(host2.woken(), strings{key});
  change(two, add(0, "n"));
  EXPECT_TRUE(host1.woken().empty()) << "the value is the same";
}

TEST_F(memory_engine_of_two, wakes_those_that_watch_a_name_when_its_holder_or_note_changes) {
  const auto key = survey(two, {.name = "x"}).watch_key;
  watch(two, key);
  spi::claim a = claim_of(1, "x", kind::election);
  acquire(one, a);
  EXPECT_EQ(host2.woken(), strings{key});
  a.note = "port 8080";
  spi::claim* const batch[] = {&a};
  int answers = 0;
  one.renew(batch, never, [&](std::size_t i, spi::status s, spi::renew_reply r) {
    EXPECT_EQ(i, 0U);
    EXPECT_FALSE(s);
    EXPECT_EQ(r.why, loss::none);
    ++answers;
  });
  EXPECT_EQ(answers, 1);
  EXPECT_EQ(host2.woken(), strings{key});
  EXPECT_EQ(survey(two, {.name = "x"}).entries.at(0).holders.at(0).note, "port 8080");
}

TEST_F(memory_engine_of_two, does_not_know_what_another_store_knows) {
  memory_engine other{std::make_shared<memory_store>(time), host2};
  acquire(one, 1, "x");
  EXPECT_TRUE(acquire(other, 2, "x").reply.granted);
}

TEST(memory_store_of_a_path, lives_as_long_as_somebody_has_it) {
  auto a = memory_store::of("path a");
  EXPECT_EQ(a, memory_store::of("path a"));
  EXPECT_NE(a, memory_store::of("path b"));
  recording_host host;
  {
    memory_engine e{a, host};
    acquire(e, 1, "x");
  }
  a.reset();
  memory_engine e{memory_store::of("path a"), host};
  EXPECT_TRUE(acquire(e, 2, "x").reply.granted);
}

// ---- kinds --------------------------------------------------------------------------------------

TEST_F(memory_engine_of_two, refuses_a_name_that_is_in_use_as_something_else) {
  acquire(one, 1, "x");
  const auto wrong = change(one, add(1, "x"));
  EXPECT_EQ(wrong.status.code, errc::wrong_use);
  EXPECT_EQ(wrong.status.detail.str(), "is a mutex, not a counter");
  EXPECT_EQ(acquire(one, 2, "x", kind::election).status.code, errc::wrong_use);

  change(one, add(1, "n"));
  EXPECT_EQ(acquire(one, 3, "n").status.detail.str(), "is a counter, not a mutex");
  spi::ledger_change define;
  define.what = {kind::stock, "n"};
  define.action = spi::ledger_action::define;
  EXPECT_EQ(record(one, define).status.code, errc::wrong_use);
  define.what.name = "s";
  EXPECT_FALSE(record(one, define).status);
  EXPECT_EQ(acquire(one, 4, "s", kind::election).status.detail.str(),
            "is a stock, not an election");
}

TEST_F(memory_engine_of_two, lets_a_name_be_something_else_when_the_holder_is_over) {
  acquire(one, 1, "x");
  time->pass(10s);
  EXPECT_FALSE(change(one, add(1, "x")).status);
}

TEST_F(memory_engine_of_two, tells_an_evicted_holder_why) {
  const auto token = acquire(one, 1, "x").reply.token;
  const auto evicted = answer_of<release_reply>(
      [&](auto done) { two.evict({kind::mutex, "x"}, owner(1), token, never, std::move(done)); });
  EXPECT_EQ(evicted.reply, release_reply::released);
  spi::claim a = claim_of(1, "x");
  a.token = token;
  spi::claim* const batch[] = {&a};
  one.renew(batch, never,
            [](std::size_t, spi::status, spi::renew_reply r) { EXPECT_EQ(r.why, loss::evicted); });
}

// ---- survey -------------------------------------------------------------------------------------

TEST_F(memory_engine_of_two, lists_all_names_in_order_page_by_page) {
  acquire(one, 1, "c");
  acquire(one, 2, "a");
  acquire(two, 3, "a");
  change(one, add(5, "b"));
  acquire(one, 4, "gone");
  release(one, 4, "gone");

  auto page = survey(one, {.most = 2});
  ASSERT_EQ(page.entries.size(), 2U);
  EXPECT_EQ(page.entries[0].name, "a");
  EXPECT_EQ(page.entries[0].holders.size(), 1U);
  EXPECT_EQ(page.entries[0].waiters.size(), 1U);
  EXPECT_EQ(page.entries[1].name, "b");
  EXPECT_EQ(page.entries[1].value, 5);
  EXPECT_FALSE(page.cursor.empty());
  page = survey(one, {.cursor = page.cursor, .most = 2});
  ASSERT_EQ(page.entries.size(), 1U);
  EXPECT_EQ(page.entries[0].name, "c");
  EXPECT_TRUE(page.cursor.empty());

  EXPECT_EQ(survey(one, {.kind = kind::counter}).entries.size(), 1U);
  EXPECT_EQ(survey(one, {.name = "b"}).entries.size(), 1U);
  EXPECT_EQ(survey(one, {.name = "b", .kind = kind::mutex}).entries.size(), 0U);
}

TEST_F(memory_engine_of_two, accepts_any_bytes_as_a_name) {
  const std::string odd{"\0/../\xff\n", 7};
  acquire(one, 1, odd);
  EXPECT_FALSE(acquire(two, 2, odd).reply.granted);
  EXPECT_TRUE(acquire(two, 3, std::string_view{odd}.substr(0, 6)).reply.granted);
  EXPECT_EQ(survey(one, {.name = odd}).entries.at(0).name, odd);
}

// ---- tidiness -----------------------------------------------------------------------------------

TEST_F(memory_engine_of_two, forgets_idle_names_in_time) {
  for (std::uint64_t n = 0; n < 100; ++n) {
    const std::string name = "x" + std::to_string(n);
    acquire(one, n, name);
    if (n % 2 == 0) release(one, n, name);  // the others are left to their leases
  }
  EXPECT_EQ(store->size(), 100U);
  time->pass(1min);
  for (int i = 0; i < 60; ++i) release(one, 0, "nothing");  // looks, and ends the leases
  time->pass(1min);
  for (int i = 0; i < 60; ++i) release(one, 0, "nothing");
  EXPECT_EQ(store->size(), 0U);
}

TEST_F(memory_engine_of_two, keeps_nothing_of_what_was_only_read) {
  spi::cell_change load = add(0, "n");
  load.action = spi::cell_action::load;
  change(one, load);
  spi::ledger_change look;
  look.what = {kind::stock, "s"};
  record(one, look);
  survey(one, {.name = "x"});
  spi::claim wrong = claim_of(1, "p", kind::permits);
  wrong.permits = 9;
  acquire(one, wrong);
  EXPECT_EQ(store->size(), 0U);
}

// ---- threads ------------------------------------------------------------------------------------

TEST_F(memory_engine_of_two, answers_steps_that_come_from_inside_an_answer) {
  spi::claim a = claim_of(1, "x");
  bool released = false;
  one.acquire(a, never, [&](spi::status, spi::acquire_reply) {
    one.release(a, never,
                [&](spi::status, release_reply r) { released = r == release_reply::released; });
  });
  EXPECT_TRUE(released);
}

TEST_F(memory_engine_of_two, answers_closed_when_closed_and_wakes_no_more) {
  acquire(one, 1, "x");
  const std::string key = acquire(two, 2, "x").reply.watch_key;
  watch(two, key);
  two.close();
  release(one, 1, "x");
  EXPECT_TRUE(host2.woken().empty());
  EXPECT_EQ(acquire(two, 3, "x").status.code, errc::closed);
}

TEST_F(memory_engine_of_two, can_be_closed_from_inside_an_answer) {
  spi::claim a = claim_of(1, "x");
  one.acquire(a, never, [&](spi::status, spi::acquire_reply) { one.close(); });
  EXPECT_EQ(acquire(one, 2, "x").status.code, errc::closed);
}

TEST_F(memory_engine_of_two, closes_only_when_the_last_wake_has_returned) {
  // A host whose wake lasts until it is let go.
  struct slow_host final : spi::host {
    void wake(std::string_view) noexcept override {
      inside.set_value();
      go.get_future().wait();
      returned = true;
    }
    void wake_all() noexcept override {}
    void granted(const spi::owner_id&, std::uint64_t, std::uint64_t,
                 spi::milliseconds) noexcept override {}
    void asked(const spi::owner_id&) noexcept override {}
    void session_lost() noexcept override {}
    std::promise<void> inside, go;
    std::atomic<bool> returned{false};
  } slow;
  memory_engine three{store, slow};
  acquire(one, 1, "x");
  watch(three, acquire(three, 2, "x").reply.watch_key);
  std::thread waker{[&] { release(one, 1, "x"); }};
  slow.inside.get_future().wait();
  std::thread helper{[&] { slow.go.set_value(); }};
  three.close();
  EXPECT_TRUE(slow.returned);
  waker.join();
  helper.join();
}

TEST_F(memory_engine_of_two, counts_right_from_many_threads) {
  std::vector<std::thread> threads;
  std::atomic<int> inside{0};
  std::atomic<int> grants{0};
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      spi::engine& e = t % 2 == 0 ? one : two;
      for (std::uint64_t i = 0; i < 500; ++i) {
        spi::claim a = claim_of(t * 1'000'000 + i, "x");
        a.queue = false;
        if (acquire(e, a).reply.granted) {
          EXPECT_EQ(inside++, 0);
          ++grants;
          --inside;
          release(e, a.owner.number, "x");
        }
        spi::cell_change ch = add(1, "n");
        ch.id = {{t, 0, i}, i};
        change(e, ch);
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_GT(grants, 0);
  EXPECT_EQ(change(one, add(0, "n")).reply.value, 2'000);
}

}  // namespace
}  // namespace afar::test
