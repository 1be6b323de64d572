#include "embedded_fixture.hpp"
#include "engine_fixture.hpp"
#include "engines/embedded/doorbell.hpp"
#include "engines/embedded/listener.hpp"
#include "support/patience.hpp"
#include "support/process.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace afar::test {
namespace {

using engines::embedded::bell_area;
using engines::embedded::bucket_of;
using engines::embedded::doorbell;
using engines::embedded::ear;
using engines::embedded::listener;
using engines::embedded::slot_count;
using engines::embedded::watch_key;

class embedded_doorbell : public ::testing::Test {
 protected:
  embedded_doorbell() {
    void* memory = ::mmap(nullptr, sizeof(bell_area), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    area = static_cast<bell_area*>(memory);
  }
  ~embedded_doorbell() override { ::munmap(area, sizeof(bell_area)); }

  std::vector<std::size_t> heard(std::size_t slot) {
    std::vector<std::size_t> buckets;
    bell().drain(slot, [&](std::size_t b) { buckets.push_back(b); });
    return buckets;
  }
  doorbell bell() const { return doorbell{*area}; }

  bell_area* area;
};

using buckets = std::vector<std::size_t>;

TEST_F(embedded_doorbell, is_heard_by_those_who_listen_to_the_bucket) {
  const auto a = bell().take_slot(1).value();
  const auto b = bell().take_slot(2).value();
  bell().listen(a, 7);
  bell().listen(a, 1'000);
  bell().listen(b, 8);
  bell().ring(7, slot_count);
  bell().ring(1'000, slot_count);
  EXPECT_EQ(heard(a), (buckets{7, 1'000}));
  EXPECT_EQ(heard(a), buckets{}) << "once";
  EXPECT_EQ(heard(b), buckets{});
  bell().stop_listening(a, 7);
  bell().ring(7, slot_count);
  EXPECT_EQ(heard(a), buckets{});
}

TEST_F(embedded_doorbell, does_not_ring_the_ringer) {
  const auto a = bell().take_slot(1).value();
  bell().listen(a, 7);
  bell().ring(7, a);
  EXPECT_EQ(heard(a), buckets{});
}

TEST_F(embedded_doorbell, a_ring_before_the_sleep_is_not_slept_through) {
  const auto a = bell().take_slot(1).value();
  bell().listen(a, 7);
  const auto seen = bell().word(a);
  bell().ring(7, slot_count);
  EXPECT_LT(time_of([&] { bell().wait(a, seen, boot_clock::now() + 30s); }), 5s);
}

TEST_F(embedded_doorbell, sleeps_until_its_time) {
  const auto a = bell().take_slot(1).value();
  const auto seen = bell().word(a);
  EXPECT_GE(time_of([&] { bell().wait(a, seen, boot_clock::now() + 30ms); }), 29ms);
}

TEST_F(embedded_doorbell, wakes_another_process) {
  const auto a = bell().take_slot(1).value();
  bell().listen(a, 7);
  child sleeper{[&](const child::tell& tell) {
    for (;;) {
      const auto seen = bell().word(a);
      tell('r');
      bell().wait(a, seen, boot_clock::now() + 1h);
      if (!heard(a).empty()) tell('w');
    }
  }};
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(sleeper.hear(), 'r');
    bell().ring(7, slot_count);
    ASSERT_EQ(sleeper.hear(), 'w');
  }
}

TEST_F(embedded_doorbell, has_a_slot_for_each_of_many_and_then_none) {
  for (std::size_t i = 0; i < slot_count; ++i) EXPECT_TRUE(bell().take_slot(i + 1));
  EXPECT_FALSE(bell().take_slot(5'000));
  bell().free_slots(77);
  EXPECT_EQ(bell().take_slot(5'000), 76U);
}

TEST_F(embedded_doorbell, forgets_what_a_dead_session_listened_to) {
  const auto a = bell().take_slot(1).value();
  bell().listen(a, 7);
  bell().ring(7, slot_count);
  bell().free_slots(1);
  ASSERT_EQ(bell().take_slot(2), a);
  EXPECT_EQ(heard(a), buckets{});
  bell().ring(7, slot_count);
  EXPECT_EQ(heard(a), buckets{});
  std::vector<engines::embedded::session_id> there;
  bell().each_session([&](auto id) { there.push_back(id); });
  EXPECT_EQ(there, std::vector<engines::embedded::session_id>{2});
}

// ---- the listener: this process's end ----------------------------------------------------------

// A waiter that is ready when its key was woken.
class sleeping_waiter final : public spi::waiter {
 public:
  sleeping_waiter() = default;
  explicit sleeping_waiter(std::string key) : key_(std::move(key)) {}
  sleeping_waiter(const sleeping_waiter&) = delete;
  sleeping_waiter& operator=(const sleeping_waiter&) = delete;
  // Whoever made it ready may not have left yet.
  ~sleeping_waiter() { const std::lock_guard lock{mutex_}; }
  std::string_view key() const noexcept override { return key_; }
  bool ready() const noexcept override { return ready_.load(); }
  void park_until(spi::time_point t) noexcept override {
    parked_.store(true);
    std::unique_lock lock{mutex_};
    wakes_.wait_for(lock, t - boot_clock::now(), [&] { return std::exchange(notified_, false); });
  }
  void notify() noexcept override {
    const std::lock_guard lock{mutex_};
    wake();
  }
  void make_ready() {
    const std::lock_guard lock{mutex_};
    ready_.store(true);
    wake();
  }
  bool parked() const { return parked_.load(); }

 private:
  void wake() {
    notified_ = true;
    wakes_.notify_all();
  }

  const std::string key_;
  std::atomic<bool> ready_{false};
  std::atomic<bool> parked_{false};
  std::mutex mutex_;
  std::condition_variable wakes_;
  bool notified_ = false;
};

// Makes the waiters of a key ready, as a core does.
class waking_host final : public spi::host {
 public:
  void wait_for(std::string key, sleeping_waiter& w) {
    const std::lock_guard lock{mutex_};
    waiters_.emplace_back(std::move(key), &w);
  }
  void wake(std::string_view key) noexcept override {
    const std::lock_guard lock{mutex_};
    ++wakes_;
    for (auto& [k, w] : waiters_)
      if (k == key) w->make_ready();
  }
  int wakes() {
    const std::lock_guard lock{mutex_};
    return wakes_;
  }
  void wake_all() noexcept override {}
  void granted(const spi::owner_id&, std::uint64_t, std::uint64_t,
               spi::milliseconds) noexcept override {}
  void asked(const spi::owner_id&) noexcept override {}
  void session_lost() noexcept override {}

 private:
  std::mutex mutex_;
  int wakes_ = 0;
  std::vector<std::pair<std::string, sleeping_waiter*>> waiters_;
};

class embedded_listener : public embedded_doorbell {
 protected:
  // What another process does.
  void ring_from_elsewhere(const std::string& k) { bell().ring(bucket_of(k), slot_count); }
  bool listens(const std::string& k) const {
    return (area->listening[bucket_of(k)][0].load() & 1) != 0;
  }
  void drive(sleeping_waiter& w) {
    while (!w.ready()) ears.drive(w, boot_clock::now() + 1min);
  }

  const std::string key = watch_key("x");
  doorbell shared{*area};
  waking_host host;
  std::shared_ptr<ear> one = std::make_shared<ear>(host);
  listener ears{shared, shared.take_slot(1)};
};

TEST_F(embedded_listener, a_blocked_caller_hears_the_ring_itself) {
  sleeping_waiter w;
  host.wait_for(key, w);
  ears.watch(one, key);
  std::thread waits{[&] { drive(w); }};
  ring_from_elsewhere(key);
  waits.join();
  EXPECT_FALSE(w.parked()) << "it slept on the futex word, not in park_until";
}

TEST_F(embedded_listener, a_ring_of_this_process_is_heard_at_once) {
  sleeping_waiter w;
  host.wait_for(key, w);
  ears.watch(one, key);
  ears.ring(bucket_of(key), [&] { return key; });
  EXPECT_TRUE(w.ready()) << "delivered by the ringing thread";
}

TEST_F(embedded_listener, a_ring_of_this_process_ends_the_sleep_of_a_leader) {
  sleeping_waiter w;
  host.wait_for(key, w);
  ears.watch(one, key);
  std::thread waits{[&] { drive(w); }};
  EXPECT_TRUE(eventually([&] { return area->slots[0].sleepers.load() != 0; }));
  ears.ring(bucket_of(key), [&] { return key; });
  waits.join();
}

TEST_F(embedded_listener, one_leads_the_others_park_and_the_leader_hands_on) {
  constexpr int many = 4;
  std::vector<sleeping_waiter> all(many);
  std::vector<std::string> keys;
  for (int i = 0; i < many; ++i) {
    keys.push_back(watch_key("x" + std::to_string(i)));
    host.wait_for(keys.back(), all[static_cast<std::size_t>(i)]);
    ears.watch(one, keys.back());
  }
  std::vector<std::thread> threads;
  for (auto& w : all) threads.emplace_back([&] { drive(w); });
  EXPECT_TRUE(eventually([&] {
    return std::ranges::count_if(all, [](const auto& w) { return w.parked(); }) == many - 1;
  }));
  for (const auto& k : keys) {
    ring_from_elsewhere(k);
    ears.unwatch(one.get(), k);
  }
  for (const auto& k : keys) ears.watch(one, k);
  for (const auto& k : keys) ring_from_elsewhere(k);
  for (auto& t : threads) t.join();
}

TEST_F(embedded_listener, a_driver_that_did_not_listen_before_looks_again_and_then_sleeps) {
  sleeping_waiter w{key};
  EXPECT_TRUE(ears.drive(w, boot_clock::now() + 1min));
  EXPECT_TRUE(listens(key));
  EXPECT_FALSE(ears.drive(w, boot_clock::now() + 1ms)) << "nothing was rung since it looked";
  EXPECT_FALSE(listens(key)) << "nobody wants it any more";
}

TEST_F(embedded_listener, a_driver_with_a_key_needs_no_watch) {
  std::atomic<bool> rung{false};
  std::thread waits{[&] {
    sleeping_waiter w{key};
    ears.expect(bucket_of(key));
    rung = ears.drive(w, boot_clock::now() + 1min);
  }};
  EXPECT_TRUE(eventually([&] { return area->slots[0].sleepers.load() != 0; }));
  ring_from_elsewhere(watch_key("another name"));
  EXPECT_TRUE(eventually([&] { return area->slots[0].sleepers.load() != 0; }));
  EXPECT_FALSE(rung);
  ring_from_elsewhere(key);
  waits.join();
  EXPECT_TRUE(rung);
  EXPECT_FALSE(listens(key));
}

TEST_F(embedded_listener, a_ring_before_the_drive_is_not_missed) {
  sleeping_waiter w{key};
  ears.expect(bucket_of(key));
  ring_from_elsewhere(key);
  EXPECT_TRUE(ears.drive(w, boot_clock::now() + 1min)) << "the bit was dirty";

  ears.expect(bucket_of(key));
  ears.ring(bucket_of(key), [&] { return key; });
  EXPECT_TRUE(ears.drive(w, boot_clock::now() + 1min)) << "this process rang";

  ears.expect(bucket_of(key));
  std::thread{[&] {
    sleeping_waiter other{key};
    ears.expect(bucket_of(key));
    ears.drive(other, boot_clock::now() - 1ms);
  }}.join();
  EXPECT_TRUE(ears.drive(w, boot_clock::now() + 1min)) << "another stopped listening meanwhile";
}

TEST_F(embedded_listener, an_expectation_of_an_earlier_listener_is_worth_nothing) {
  ears.expect(bucket_of(key));
  listener next{shared, shared.take_slot(2)};
  sleeping_waiter w{key};
  EXPECT_TRUE(next.drive(w, boot_clock::now() + 1min));
}

TEST_F(embedded_listener, drivers_that_park_are_called_by_the_one_that_leads) {
  constexpr int many = 4;
  std::atomic<int> rung{0};
  std::vector<std::string> keys;
  for (int i = 0; i < many; ++i) keys.push_back(watch_key("x" + std::to_string(i)));
  std::deque<sleeping_waiter> all;
  for (const auto& k : keys) all.emplace_back(k);
  std::vector<std::thread> threads;
  for (auto& w : all)
    threads.emplace_back([&] {
      ears.expect(bucket_of(w.key()));
      rung += ears.drive(w, boot_clock::now() + 1min);
    });
  EXPECT_TRUE(eventually([&] {
    return std::ranges::count_if(all, [](const auto& w) { return w.parked(); }) == many - 1;
  }));
  for (const auto& k : keys) ring_from_elsewhere(k);
  for (auto& t : threads) t.join();
  EXPECT_EQ(rung, many);
}

TEST_F(embedded_listener, without_a_slot_a_driver_is_still_called_by_its_own_process) {
  listener deaf{shared, std::nullopt};
  sleeping_waiter w{key};
  std::thread waits{[&] {
    deaf.expect(bucket_of(key));
    EXPECT_TRUE(deaf.drive(w, boot_clock::now() + 1min));
  }};
  EXPECT_TRUE(eventually([&] { return w.parked(); }));
  deaf.ring(bucket_of(key), [&] { return key; });
  waits.join();
}

TEST_F(embedded_listener, where_nobody_blocks_a_thread_listens) {
  std::thread{[] {}}.join();  // with the first thread of a process TSan starts one of its own
  const auto before = threads_of_this_process();
  ears.watch(one, key);
  for (int i = 1; i <= 20; ++i) {
    const int so_far = host.wakes();
    ring_from_elsewhere(key);
    ASSERT_TRUE(eventually([&] { return host.wakes() > so_far; }));
  }
  EXPECT_EQ(threads_of_this_process(), before + 1);
  ears.stop();
  EXPECT_TRUE(eventually([&] { return threads_of_this_process() == before; }));
}

TEST_F(embedded_listener, asynchronous_watches_are_heard_after_a_leader_has_left) {
  sleeping_waiter w;
  const std::string other = watch_key("other");
  host.wait_for(key, w);
  ears.watch(one, key);
  std::thread waits{[&] { drive(w); }};
  EXPECT_TRUE(eventually([&] { return area->slots[0].sleepers.load() != 0; }));
  ears.watch(one, other);
  ring_from_elsewhere(key);
  waits.join();
  ears.unwatch(one.get(), key);
  const int so_far = host.wakes();
  ring_from_elsewhere(other);
  EXPECT_TRUE(eventually([&] { return host.wakes() > so_far; }));
}

TEST_F(embedded_listener, a_nudged_leader_returns_at_once) {
  sleeping_waiter w;
  std::thread waits{[&] { drive(w); }};
  EXPECT_TRUE(eventually([&] { return area->slots[0].sleepers.load() != 0; }));
  w.make_ready();
  ears.nudge();
  waits.join();
}

TEST_F(embedded_listener, watches_are_counted) {
  ears.watch(one, key);
  ears.watch(one, key);
  ears.unwatch(one.get(), key);
  ears.ring(bucket_of(key), [&] { return key; });
  EXPECT_EQ(host.wakes(), 1);
  ears.unwatch(one.get(), key);
  ears.unwatch(one.get(), key);
  ears.ring(bucket_of(key), [&] { return key; });
  EXPECT_EQ(host.wakes(), 1);
}

TEST_F(embedded_listener, a_closed_engine_is_called_no_more) {
  ears.watch(one, key);
  std::atomic<bool> enough{false};
  std::thread rings{[&] {
    while (!enough) ears.ring(bucket_of(key), [&] { return key; });
  }};
  EXPECT_TRUE(eventually([&] { return host.wakes() > 100; }));
  one->close();
  const int at_close = host.wakes();
  ears.ring(bucket_of(key), [&] { return key; });
  EXPECT_EQ(host.wakes(), at_close);
  enough = true;
  rings.join();
  ears.unwatch_all(one.get());
}

// A client's last operation may end, and close the client, inside a wake.
TEST_F(embedded_listener, an_engine_can_be_closed_inside_its_own_wake) {
  struct closing_host final : spi::host {
    void wake(std::string_view) noexcept override { mine->close(); }
    void wake_all() noexcept override {}
    void granted(const spi::owner_id&, std::uint64_t, std::uint64_t,
                 spi::milliseconds) noexcept override {}
    void asked(const spi::owner_id&) noexcept override {}
    void session_lost() noexcept override {}
    std::shared_ptr<ear> mine;
  } closing;
  closing.mine = std::make_shared<ear>(closing);
  ears.watch(closing.mine, key);
  ears.ring(bucket_of(key), [&] { return key; });
  ears.unwatch_all(closing.mine.get());
  closing.mine.reset();
}

TEST_F(embedded_listener, without_a_slot_callers_park) {
  listener deaf{shared, std::nullopt};
  sleeping_waiter w;
  deaf.watch(one, key);
  EXPECT_GE(time_of([&] { deaf.drive(w, boot_clock::now() + 20ms); }), 19ms);
  EXPECT_TRUE(w.parked());
}

}  // namespace
}  // namespace afar::test
