#include "core/notifier.hpp"

#include "core/timers.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <afar/spi/own_thread.hpp>

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <latch>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace afar::detail {
namespace {

using namespace test;

void post(function<void()> f) { notifier::shared().post(std::move(f)); }

template <class F>
auto on_notifier_thread(F f) {
  std::promise<decltype(f())> answer;
  post([&] { answer.set_value(f()); });
  return answer.get_future().get();
}

std::size_t notifier_threads() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::ifstream file{task.path() / "comm"};
    std::string name;
    if (std::getline(file, name) && name == "afar-notify") ++count;
  }
  return count;
}

TEST(notifier, runs_callbacks_on_a_marked_thread_of_its_own) {
  EXPECT_TRUE(on_notifier_thread([] { return spi::own_thread; }));
  EXPECT_NE(on_notifier_thread([] { return std::this_thread::get_id(); }),
            std::this_thread::get_id());
}

TEST(notifier, starts_callbacks_in_the_order_of_posting) {
  std::string order;
  std::promise<void> last;
  for (const char c : std::string{"abcdef"}) post([&order, c] { order += c; });
  post([&] { last.set_value(); });
  last.get_future().wait();
  EXPECT_EQ(order, "abcdef");
}

TEST(notifier, runs_the_rest_while_a_slow_callback_is_still_busy) {
  std::promise<void> release;
  std::promise<void> finished;
  post([&] {
    release.get_future().wait();
    finished.set_value();
  });
  EXPECT_EQ(on_notifier_thread([] { return 1; }), 1);  // hangs if nobody replaces the slow one
  release.set_value();
  finished.get_future().wait();
}

TEST(notifier, replaces_every_slow_thread) {
  constexpr int slow = 10;
  std::latch all_started{slow};
  std::promise<void> release;
  const auto gate = release.get_future().share();
  std::latch all_done{slow};
  for (int i = 0; i < slow; ++i) {
    post([&, gate] {
      all_started.count_down();
      gate.wait();
      all_done.count_down();
    });
  }
  EXPECT_TRUE(eventually([&] { return all_started.try_wait(); }, 20s));
  EXPECT_EQ(on_notifier_thread([] { return 1; }), 1);
  release.set_value();
  all_done.wait();
}

TEST(notifier, needs_one_thread_for_quick_callbacks) {
  std::set<std::thread::id> threads;
  // A busy machine can make any callback slow, so one good run of a few is proof enough.
  for (int run = 0; run < 5 && threads.size() != 1; ++run) {
    threads.clear();
    ASSERT_TRUE(eventually([] { return notifier_threads() == 0; }));
    for (int i = 0; i < 50; ++i) {
      threads.insert(on_notifier_thread([] { return std::this_thread::get_id(); }));
    }
  }
  EXPECT_EQ(threads.size(), 1U);
}

TEST(notifier, lets_its_threads_go_when_nothing_is_left_to_do_and_starts_again) {
  std::promise<void> release;
  const auto gate = release.get_future().share();
  for (int i = 0; i < 3; ++i) post([gate] { gate.wait(); });
  EXPECT_TRUE(eventually([] { return notifier_threads() >= 3; }));
  release.set_value();
  EXPECT_TRUE(eventually([] { return notifier_threads() == 0; }));
  EXPECT_EQ(on_notifier_thread([] { return 1; }), 1);
}

TEST(notifier, accepts_posts_from_its_own_callbacks) {
  std::promise<void> done;
  post([&] { post([&] { done.set_value(); }); });
  EXPECT_EQ(done.get_future().wait_for(long_time), std::future_status::ready);
}

TEST(notifier, destroys_callbacks_after_they_ran) {
  auto alive = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = alive;
  post([alive = std::move(alive)] { (void)alive; });
  EXPECT_TRUE(eventually([&] { return seen.expired(); }));
}

TEST(notifier, runs_each_post_of_many_threads_exactly_once) {
  constexpr int threads = 4;
  constexpr int each = 2'000;
  std::vector<std::atomic<int>> ran(threads * each);
  std::latch left{threads * each};
  in_parallel(threads, [&](int t) {
    for (int i = 0; i < each; ++i) {
      post([&, at = static_cast<std::size_t>(t) * each + static_cast<std::size_t>(i)] {
        ++ran[at];
        left.count_down();
      });
    }
  });
  left.wait();
  for (const auto& count : ran) ASSERT_EQ(count, 1);
}

}  // namespace
}  // namespace afar::detail
