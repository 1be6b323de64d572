// The connection: what breaks it, what it does then, and what it never does.
#include "redis_fixture.hpp"

#include <afar/client.hpp>
#include <afar/leased_semaphore.hpp>
#include <afar/spi/own_thread.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace afar::test {
namespace {

class redis_link : public redis_test {
 protected:
  // Repeats the step as the core would, until it is answered.
  std::int64_t add_one() {
    spi::cell_change ch = add(1, name);
    ch.id.owner = owner(++number_);
    ch.id.settled = number_;
    answered<spi::cell_reply> got;
    EXPECT_TRUE(eventually([&] {
      got = answer_of<spi::cell_reply>(
          [&](auto done) { engine->change(ch, boot_clock::now() + 2s, std::move(done)); });
      return !got.status;
    })) << got.status.detail.str();
    return got.reply.value;
  }
  std::uint64_t number_ = 0;
};

TEST_F(redis_link, sends_a_script_that_the_server_has_forgotten) {
  EXPECT_EQ(add_one(), 1);
  server->ask({"SCRIPT", "FLUSH"});
  const auto got = change(*engine, add(1, name));
  EXPECT_FALSE(got.status) << got.status.detail.str();
  EXPECT_EQ(got.reply.value, 2);
}

TEST_F(redis_link, keeps_the_order_of_steps_on_a_server_that_knows_no_script) {
  for (int i = 0; i < 20; ++i) {
    server->ask({"SCRIPT", "FLUSH"});
    const client fresh{server->url()};
    leased_semaphore permits{fresh, name + std::to_string(i), 5};
    {
      const hold three = permits.acquire(3);
    }  // not waited for
    EXPECT_TRUE(permits.try_acquire(5).valid()) << i;
  }
}

TEST_F(redis_link, dials_again_when_the_server_ends_the_connection) {
  EXPECT_EQ(add_one(), 1);
  server->ask({"CLIENT", "KILL", "TYPE", "normal"});
  EXPECT_EQ(add_one(), 2);
}

TEST_F(redis_link, wakes_everybody_when_the_subscription_was_lost) {
  server->ask({"CLIENT", "KILL", "TYPE", "pubsub"});
  EXPECT_TRUE(eventually([&] {
    for (const std::string& key : up.woken())
      if (key == "*") return true;
    return false;
  }));
}

TEST_F(redis_link, ends_every_step_by_its_deadline_while_the_server_is_stopped) {
  EXPECT_EQ(add_one(), 1);
  server->suspend();
  const auto took = time_of([&] {
    const spi::cell_change ch = add(1, name);
    const auto got = answer_of<spi::cell_reply>(
        [&](auto done) { engine->change(ch, boot_clock::now() + 100ms, std::move(done)); });
    EXPECT_EQ(got.status.code, errc::timed_out);
  });
  server->resume();
  EXPECT_GE(took, 100ms);
  EXPECT_LT(took, slowness * 2s);
  add_one();
}

TEST_F(redis_link, lives_through_a_restart_of_the_server) {
  EXPECT_EQ(add_one(), 1);
  server->stop();
  const spi::cell_change ch = add(1, name);
  const auto down = answer_of<spi::cell_reply>(
      [&](auto done) { engine->change(ch, boot_clock::now() + 100ms, std::move(done)); });
  EXPECT_TRUE(down.status);
  server->start();
  EXPECT_EQ(add_one(), 1) << "it had no persistence";
}

TEST_F(redis_link, carries_the_steps_of_many_threads) {
  constexpr int threads = 8;
  constexpr int steps = 200;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&] {
      for (int i = 0; i < steps; ++i) EXPECT_FALSE(change(*engine, add(1, name)).status);
    });
  for (auto& t : all) t.join();
  EXPECT_EQ(change(*engine, add(0, name)).reply.value, threads * steps);
}

// As one of the core's, but it tells when it sleeps.
class seen_waiter final : public spi::waiter {
 public:
  bool ready() const noexcept override { return ready_; }
  void park_until(spi::time_point) noexcept override {
    asleep_since = ++moment;
    notified_.wait(false);
    asleep_since = 0;
  }
  void notify() noexcept override {
    notified_ = true;
    notified_.notify_all();
  }
  bool notified() const noexcept { return notified_; }
  void answer() noexcept { ready_ = true; }

  std::atomic<int> asleep_since{0};  // 0: it does not sleep

 private:
  inline static std::atomic<int> moment{0};
  std::atomic<bool> ready_{false};
  std::atomic<bool> notified_{false};
};

// Who was answered together with the reader is on his way, and may not be back for long.
TEST_F(redis_link, is_read_by_one_who_still_waits_when_the_reader_leaves) {
  EXPECT_EQ(add_one(), 1);
  const auto until = boot_clock::now() + 1h;
  std::vector<std::unique_ptr<seen_waiter>> all;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    auto& w = *all.emplace_back(std::make_unique<seen_waiter>());
    threads.emplace_back([&, this] {
      do {
        engine->drive(w, until);
      } while (!w.ready());
    });
  }
  const auto sorted = [&] {
    std::ranges::sort(all, {}, [](const auto& w) { return w->asleep_since.load(); });
    return all[0]->asleep_since == 0 && all[1]->asleep_since != 0;
  };
  EXPECT_TRUE(eventually(sorted));  // one reads, two sleep
  all[1]->answer();
  all[0]->answer();
  engine->nudge();
  EXPECT_TRUE(eventually([&] { return all[2]->notified(); }));
  for (const auto& w : all) {
    w->answer();
    w->notify();
  }
  engine->nudge();
}

// Else a client that ends in a completion would hold up all others of the process.
TEST_F(redis_link, completes_on_a_thread_where_no_client_is_closed) {
  std::promise<bool> own;
  const spi::cell_change ch = add(1, name);
  engine->change(ch, never, [&](const spi::status&, const spi::cell_reply&) {
    own.set_value(spi::own_thread);
  });
  EXPECT_TRUE(own.get_future().get());
}

TEST_F(redis_link, accepts_the_first_step_of_a_connection_from_its_own_thread) {
  spi::claim held = claim_of(1, name);
  ASSERT_FALSE(acquire(*engine, held).status);
  spi::claim* const one = &held;
  std::promise<spi::status> renewed;
  engine->watch("s" + name, [&](const spi::status&, const spi::watch_reply&) {
    EXPECT_TRUE(spi::own_thread);
    engine->renew({&one, 1}, boot_clock::now() + long_time,
                  [&](std::size_t, spi::status s, const spi::renew_reply&) {
                    renewed.set_value(std::move(s));
                  });
  });
  auto answer = renewed.get_future();
  ASSERT_EQ(answer.wait_for(long_time), std::future_status::ready);
  EXPECT_FALSE(answer.get());
}

TEST_F(redis_link, serves_others_while_one_engine_is_closed) {
  auto other = open_engine(server->url(), up);
  other->close();
  EXPECT_EQ(add_one(), 1);
  other = open_engine(server->url(), up);
  EXPECT_FALSE(change(*other, add(1, name)).status);
  EXPECT_EQ(add_one(), 3);
}

TEST_F(redis_link, answers_everything_when_it_is_closed) {
  server->suspend();
  std::atomic<int> answers{0};
  std::vector<spi::cell_change> changes(100, add(1, name));
  for (const auto& ch : changes)
    engine->change(ch, boot_clock::now() + 1h, [&](const spi::status& s, const spi::cell_reply&) {
      EXPECT_EQ(s.code, errc::closed);
      ++answers;
    });
  engine->close();
  EXPECT_EQ(answers, 100);
  server->resume();
  engine->change(changes[0], boot_clock::now() + 1h,
                 [&](const spi::status& s, const spi::cell_reply&) {
                   EXPECT_EQ(s.code, errc::closed);
                   ++answers;
                 });
  EXPECT_EQ(answers, 101);
}

}  // namespace
}  // namespace afar::test
