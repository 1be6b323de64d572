// Ways out of a critical section that are not a return: exceptions and pthread_cancel.
#include "scene.hpp"
#include "support/patience.hpp"

#include <afar/mutex.hpp>
#include <afar/recursive_mutex.hpp>

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <mutex>
#include <stdexcept>

namespace afar::test {
namespace {

class unwinding : public ::testing::Test {
 protected:
  void expect_free() {
    EXPECT_TRUE(eventually([&] {
      mutex same{there, "x"};
      return same.try_lock();
    }));
  }

  scene stage;
  client here = stage.client();
  client there = stage.client();
  mutex x{here, "x"};
};

TEST_F(unwinding, by_an_exception_releases_once) {
  EXPECT_THROW(
      {
        const std::scoped_lock guard{x};
        throw std::runtime_error("out");
      },
      std::runtime_error);
  expect_free();
  EXPECT_THROW(
      {
        const hold held = x.acquire();
        throw std::runtime_error("out");
      },
      std::runtime_error);
  expect_free();
  recursive_mutex deep{here, "x"};
  EXPECT_THROW(
      {
        const std::scoped_lock outer{deep};
        const std::scoped_lock inner{deep};
        throw std::runtime_error("out");
      },
      std::runtime_error);
  expect_free();
  EXPECT_TRUE(eventually([&] { return here.stats().released == 3; }));
  EXPECT_EQ(here.stats().misused, 0U);
}

struct cancelled_thread {
  mutex& x;
  std::atomic<bool> locked = false;
  std::atomic<bool> survived = false;

  static void* run(void* arg) {
    auto& self = *static_cast<cancelled_thread*>(arg);
    const std::scoped_lock guard{self.x};
    self.locked = true;
    ::pthread_testcancel();
    self.survived = true;
    return nullptr;
  }
};

// Inside afar's calls cancellation is held off; it takes effect at the caller's next point, where
// the guard is unwound like for an exception.
TEST_F(unwinding, by_pthread_cancel_of_a_waiting_thread_releases) {
  mutex theirs{there, "x"};
  hold busy = theirs.acquire();
  cancelled_thread work{x};
  pthread_t thread{};
  ASSERT_EQ(::pthread_create(&thread, nullptr, &cancelled_thread::run, &work), 0);
  EXPECT_TRUE(stage.becomes("x", 1, 1));
  EXPECT_EQ(::pthread_cancel(thread), 0);
  hold_still(50ms);
  EXPECT_FALSE(work.locked);
  busy.release();

  void* result = nullptr;
  ASSERT_EQ(::pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_TRUE(work.locked);
  EXPECT_FALSE(work.survived);
  expect_free();
  EXPECT_TRUE(eventually([&] { return here.stats().released == 1; }));
}

}  // namespace
}  // namespace afar::test
