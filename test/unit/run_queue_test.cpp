#include "core/run_queue.hpp"

#include "support/threads.hpp"

#include <gtest/gtest.h>

#include <string>

namespace afar::detail {
namespace {

TEST(run_queue, runs_at_once_when_nothing_runs) {
  bool ran = false;
  run_queue::run([&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(run_queue, finishes_the_running_one_before_it_starts_the_next) {
  std::string order;
  run_queue::run([&] {
    order += '(';
    run_queue::run([&] { order += 'b'; });
    run_queue::run([&] { order += 'c'; });
    order += ')';
  });
  EXPECT_EQ(order, "()bc");
}

TEST(run_queue, needs_no_stack_for_a_long_chain) {
  struct chain {
    int left;
    int* done;
    void operator()() const {
      ++*done;
      if (left > 0) run_queue::run(chain{left - 1, done});
    }
  };
  int done = 0;
  run_queue::run(chain{999'999, &done});
  EXPECT_EQ(done, 1'000'000);
}

TEST(run_queue, is_one_per_thread) {
  std::string order;
  run_queue::run([&] {
    test::elsewhere([&] { run_queue::run([&] { order += "inner "; }); });
    order += "outer";
  });
  EXPECT_EQ(order, "inner outer");
}

TEST(run_queue, destroys_a_continuation_before_the_next_one_runs) {
  auto alive = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = alive;
  bool gone = false;
  run_queue::run([&, alive = std::move(alive)] { run_queue::run([&] { gone = seen.expired(); }); });
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace afar::detail
