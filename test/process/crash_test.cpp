// kill -9 at every step of a claim's life: whatever the dead process had begun is undone by those
// who live on, at once and not after the lease (30 s here), and nothing of it stays behind.
#include "actor.hpp"
#include "scene.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <afar/counter.hpp>
#include <afar/mutex.hpp>
#include <afar/stock.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace afar::test {
namespace {

class crash : public ::testing::Test {
 protected:
  // Runs `round` with a fresh name several times; it answers how long the next one had to wait.
  void repeat(const std::string& what,
              const std::function<nanoseconds(const std::string&)>& round) {
    const long rounds = setting("AFAR_CRASHES", 5);
    durations waits;
    for (long i = 0; i < rounds && !HasFatalFailure(); ++i) {
      const std::string name = "x" + std::to_string(i);
      waits.add(round(name));
      EXPECT_TRUE(stage.becomes(name, 0, 0)) << "something stayed behind";
    }
    waits.print(what);
    EXPECT_LT(waits.at(1.0), 2s * slowness);
  }

  // The stamp of the moment at which another process than the doomed one gets it.
  std::future<std::int64_t> wait_for(const std::string& name) {
    return start([this, name] {
      mutex m{locks, name};
      const hold got = m.try_acquire_for(long_time);
      return got ? stamp() : 0;
    });
  }

  // Kills an actor at a fault point of its acquire; then another one asks.
  void dies_acquiring(const std::string& fault) {
    repeat("killed at " + fault, [&](const std::string& name) {
      actor doomed{stage};
      doomed.arm(fault + ":kill");
      doomed.send_acquire("mutex", name);
      EXPECT_TRUE(doomed.dies());
      return nanoseconds{wait_for(name).get() - doomed.death()};
    });
  }

  // Kills a holder, for which another one waits, by `doing`.
  void dies_holding(const std::string& what, const std::string& query,
                    const std::function<void(actor&)>& doing) {
    repeat(what, [&](const std::string& name) {
      actor doomed{stage, query};
      EXPECT_TRUE(doomed.acquire("mutex", name));
      auto next = wait_for(name);
      EXPECT_TRUE(stage.becomes(name, 1, 1));
      doing(doomed);
      return nanoseconds{next.get() - doomed.death()};
    });
  }

  scene stage;
  client locks = stage.client();
};

TEST_F(crash, before_the_request) { dies_acquiring("embedded.acquire.begin"); }
TEST_F(crash, inside_the_step_before_its_commit) {
  dies_acquiring("embedded.acquire.before_commit");
}
TEST_F(crash, after_the_commit_before_the_reply) {
  dies_acquiring("embedded.acquire.after_commit");
}

TEST_F(crash, while_holding) {
  dies_holding("killed while holding", "lease=30s", [](actor& doomed) { doomed.kill(); });
}

TEST_F(crash, during_a_renewal) {
  dies_holding("killed during a renewal", "lease=600ms", [](actor& doomed) {
    doomed.arm("embedded.renew.before_commit:kill");
    EXPECT_TRUE(doomed.dies());
  });
}

TEST_F(crash, during_the_release) {
  dies_holding("killed during the release", "lease=30s", [](actor& doomed) {
    doomed.arm("embedded.release.before_commit:kill");
    doomed.send("release");
    EXPECT_TRUE(doomed.dies());
  });
}

// The release is done, but the next one was not called: a lost wake.
TEST_F(crash, after_the_release_before_the_bell) {
  dies_holding("killed between release and bell", "lease=30s", [](actor& doomed) {
    doomed.arm("embedded.release.after_commit:kill");
    doomed.send("release");
    EXPECT_TRUE(doomed.dies());
  });
}

// Also in a strict queue, where nobody may pass the one that is called.
TEST_F(crash, as_the_waiter_at_the_head_of_the_queue) {
  for (const std::string kind : {"mutex", "fair_mutex"}) {
    repeat("killed at the head of the queue of a " + kind, [&](const std::string& number) {
      const std::string name = kind + number;
      actor holder{stage};
      actor doomed{stage};
      actor next{stage};
      EXPECT_TRUE(holder.acquire(kind, name));
      doomed.send_acquire(kind, name);
      EXPECT_TRUE(stage.becomes(name, 1, 1));
      next.send_acquire(kind, name);
      EXPECT_TRUE(stage.becomes(name, 1, 2));
      doomed.kill();
      const std::int64_t released = stamp();
      EXPECT_EQ(holder.ask("release"), "0");
      const grant got = next.receive_grant();
      EXPECT_TRUE(got);
      EXPECT_EQ(next.ask("release"), "0");
      EXPECT_TRUE(stage.becomes(name, 0, 0));
      return nanoseconds{got.at - released};
    });
  }
}

// A change that was killed took effect wholly or not at all, and others go on at once.
TEST_F(crash, inside_a_change_of_a_counter_or_a_stock) {
  const struct {
    const char* fault;
    const char* verb;
    long done;
  } cases[] = {{"embedded.change.begin", "add c 1", 0},
               {"embedded.change.before_commit", "add c 1", 0},
               {"embedded.change.after_commit", "add c 1", 1},
               {"embedded.record.begin", "take s 1 order-", 0},
               {"embedded.record.before_commit", "take s 1 order-", 0},
               {"embedded.record.after_commit", "take s 1 order-", 1}};
  for (const auto& c : cases) {
    counter count{locks, "c"};
    stock shop{locks, "s"};
    count.store(0);
    shop.set(100);
    actor doomed{stage};
    doomed.arm(std::string{c.fault} + ":kill");
    doomed.send(c.verb);
    EXPECT_TRUE(doomed.dies()) << c.fault;
    const auto took = time_of([&] {
      EXPECT_EQ(count.load() + (100 - shop.remaining().value_or(0)), c.done) << c.fault;
      EXPECT_EQ(count.fetch_add(1) + (100 - shop.remaining().value_or(0)), c.done) << c.fault;
    });
    EXPECT_LT(took, 1s * slowness) << c.fault;
    shop.erase();
  }
}

// All of a line dies but its last: one look clears them all.
TEST_F(crash, of_many_waiters_at_once) {
  repeat("ten waiters killed at once", [&](const std::string& name) {
    actor holder{stage};
    EXPECT_TRUE(holder.acquire("mutex", name));
    std::vector<std::unique_ptr<actor>> doomed;
    for (std::size_t i = 1; i <= 10; ++i) {
      doomed.push_back(std::make_unique<actor>(stage));
      doomed.back()->send_acquire("mutex", name);
      EXPECT_TRUE(stage.becomes(name, 1, i));
    }
    auto next = wait_for(name);
    EXPECT_TRUE(stage.becomes(name, 1, 11));
    for (auto& one : doomed) one->kill();
    holder.kill();
    return nanoseconds{next.get() - holder.death()};
  });
}

}  // namespace
}  // namespace afar::test
