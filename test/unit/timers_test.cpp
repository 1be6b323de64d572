#include "core/timers.hpp"

#include "core/fork_guard.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <afar/spi/own_thread.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#define AFAR_TSAN 1
#elif defined(__has_feature)
#define AFAR_TSAN __has_feature(thread_sanitizer)
#endif

namespace afar::detail {
namespace {

using namespace test;

timers& all() { return timers::shared(); }

// Runs `f` on the timer thread and returns what it returns.
template <class F>
auto on_timer_thread(F f) {
  std::promise<decltype(f())> answer;
  all().at(boot_clock::now(), [&] { answer.set_value(f()); });
  return answer.get_future().get();
}

// Keeps the timer thread busy until let go, so that nothing becomes due while a test sets up.
class timer_thread_held {
 public:
  timer_thread_held() {
    std::promise<void> held;
    all().at(boot_clock::now(), [&held, gate = gate_.get_future().share()] {
      held.set_value();
      gate.wait();
    });
    held.get_future().wait();
  }
  void let_go() { gate_.set_value(); }

 private:
  std::promise<void> gate_;
};

TEST(timers, run_a_callback_at_its_time_and_not_before) {
  const auto due = boot_clock::now() + 30ms;
  std::promise<boot_clock::time_point> ran;
  all().at(due, [&] { ran.set_value(boot_clock::now()); });
  EXPECT_GE(ran.get_future().get(), due);
}

TEST(timers, run_at_once_what_is_already_due) {
  std::promise<void> first;
  std::promise<void> second;
  all().at(boot_clock::time_point{}, [&] { first.set_value(); });
  all().at(boot_clock::time_point::min(), [&] { second.set_value(); });
  EXPECT_EQ(first.get_future().wait_for(long_time), std::future_status::ready);
  EXPECT_EQ(second.get_future().wait_for(long_time), std::future_status::ready);
}

TEST(timers, run_in_the_order_of_time_and_then_of_setting) {
  timer_thread_held thread;
  const auto t = boot_clock::now();
  std::string order;  // touched by the timer thread only, and by us after the last one
  std::promise<void> last;
  all().at(t + 3ms, [&] {
    order += 'd';
    last.set_value();
  });
  all().at(t + 1ms, [&] { order += 'b'; });
  all().at(t, [&] { order += 'a'; });
  all().at(t + 1ms, [&] { order += 'c'; });
  thread.let_go();
  last.get_future().wait();
  EXPECT_EQ(order, "abcd");
}

TEST(timers, do_not_run_what_was_cancelled) {
  timer_thread_held thread;
  std::atomic<bool> ran{false};
  const auto id = all().at(boot_clock::now(), [&] { ran = true; });
  EXPECT_TRUE(all().cancel(id));
  EXPECT_FALSE(all().cancel(id));
  thread.let_go();
  on_timer_thread([] { return 0; });
  EXPECT_FALSE(ran);
}

TEST(timers, wake_up_for_what_is_set_later_but_due_earlier) {
  const auto late = all().at(boot_clock::now() + 1h, [] { FAIL(); });
  on_timer_thread([] { return 0; });  // hangs if it sleeps for the hour
  EXPECT_TRUE(all().cancel(late));
  on_timer_thread([] { return 0; });
}

TEST(timers, cannot_cancel_what_runs_or_never_was) {
  std::promise<void> running;
  std::promise<void> go_on;
  const auto id = all().at(boot_clock::now(), [&running, gate = go_on.get_future().share()] {
    running.set_value();
    gate.wait();
  });
  running.get_future().wait();
  EXPECT_FALSE(all().cancel(id));
  go_on.set_value();
  EXPECT_FALSE(all().cancel(0));
  EXPECT_FALSE(all().cancel(id + 1'000'000));
}

TEST(timers, destroy_a_cancelled_callback_before_cancel_returns) {
  auto alive = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = alive;
  const auto id = all().at(boot_clock::now() + 1h, [alive = std::move(alive)] { (void)alive; });
  all().cancel(id);
  EXPECT_TRUE(seen.expired());
}

TEST(timers, may_be_set_and_cancelled_by_a_callback_and_by_its_destructor) {
  struct sets_when_destroyed {
    explicit sets_when_destroyed(std::promise<void>& p) : done(&p) {}
    sets_when_destroyed(sets_when_destroyed&& other) noexcept
        : done(std::exchange(other.done, nullptr)) {}
    ~sets_when_destroyed() {
      if (done) all().at(boot_clock::now(), [d = done] { d->set_value(); });
    }
    void operator()() const {
      const auto other = all().at(boot_clock::now() + 1h, [] {});
      EXPECT_TRUE(all().cancel(other));
    }
    std::promise<void>* done;
  };
  std::promise<void> done;
  all().at(boot_clock::now(), sets_when_destroyed{done});
  EXPECT_EQ(done.get_future().wait_for(long_time), std::future_status::ready);
}

TEST(timers, accept_the_end_of_time) {
  const auto id = all().at(boot_clock::time_point::max(), [] { FAIL(); });
  EXPECT_EQ(on_timer_thread([] { return 1; }), 1);
  EXPECT_TRUE(all().cancel(id));
}

TEST(timers, run_or_cancel_each_of_thousands_from_many_threads_exactly_once) {
  constexpr int threads = 4;
  constexpr int each = 2'000;
  std::atomic<int> ran{0};
  std::atomic<int> cancelled{0};
  in_parallel(threads, [&](int) {
    std::vector<timers::id> ids;
    for (int i = 0; i < each; ++i) {
      ids.push_back(
          all().at(boot_clock::now() + std::chrono::microseconds{i % 7 * 300}, [&] { ++ran; }));
      if (i % 2 == 0 && all().cancel(ids[static_cast<std::size_t>(i) / 2])) ++cancelled;
    }
  });
  EXPECT_TRUE(eventually([&] { return ran + cancelled == threads * each; }));
  on_timer_thread([] { return 0; });  // nothing is left that could run twice
  EXPECT_EQ(ran + cancelled, threads * each);
}

TEST(timers, have_one_thread_with_a_name_a_mark_and_no_signals) {
  EXPECT_FALSE(spi::own_thread);
  EXPECT_TRUE(on_timer_thread([] { return spi::own_thread; }));
  EXPECT_EQ(on_timer_thread([] {
              char name[16] = {};
              ::pthread_getname_np(::pthread_self(), name, sizeof name);
              return std::string{name};
            }),
            "afar-timer");
  EXPECT_TRUE(on_timer_thread([] {
    sigset_t blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    return ::sigismember(&blocked, SIGTERM) == 1 && ::sigismember(&blocked, SIGCHLD) == 1;
  }));
  EXPECT_EQ(on_timer_thread([] { return std::this_thread::get_id(); }),
            on_timer_thread([] { return std::this_thread::get_id(); }));
}

TEST(timers, leave_the_signal_mask_of_their_caller_alone) {
  EXPECT_EQ(elsewhere([] {
              all().cancel(all().at(boot_clock::now() + 1h, [] {}));
              sigset_t blocked;
              ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
              return ::sigismember(&blocked, SIGTERM);
            }),
            0);
}

#if !AFAR_TSAN  // which forbids threads after fork()
TEST(timers, of_a_child_are_its_own) {
  const auto of_parent = all().at(boot_clock::now() + 1h, [] {});
  timers* const parents = &all();
  // Its thread runs: a fork while ASan registers a new one leaves ASan's lock taken in the child.
  ASSERT_TRUE(on_timer_thread([] { return true; }));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(60);
    const bool fresh = &all() != parents;
    const bool ran = on_timer_thread([] { return true; });
    const bool confused = all().cancel(of_parent);
    ::_exit(fresh && ran && !confused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(&all(), parents);
  EXPECT_TRUE(all().cancel(of_parent));
}
#endif

TEST(fork_mark, knows_the_child_from_the_parent) {
  watch_forks();
  const fork_mark mark;
  EXPECT_FALSE(mark.foreign());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(mark.foreign() && !fork_mark{}.foreign() ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(mark.foreign());
}

}  // namespace
}  // namespace afar::detail
