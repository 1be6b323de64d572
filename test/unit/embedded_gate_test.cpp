#include "embedded_fixture.hpp"
#include "engines/embedded/gate.hpp"
#include "support/patience.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <thread>
#include <vector>

namespace afar::test {
namespace {

using engines::embedded::gate;
using engines::embedded::gate_cell;

class embedded_gate : public ::testing::Test {
 protected:
  struct memory {
    gate_cell cell;
    std::atomic<long> count;
  };
  embedded_gate() {
    void* page =
        ::mmap(nullptr, sizeof(memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = new (page) memory{};
    engines::embedded::make_gate(shared->cell);
  }
  ~embedded_gate() override { ::munmap(shared, sizeof(memory)); }

  gate own() const { return {shared->cell, ::getpid()}; }

  // Enters in a process of its own and stays.
  std::unique_ptr<child> somebody_inside() const {
    auto one = std::make_unique<child>([this](const child::tell& tell) {
      gate g = own();
      if (!g.enter(boot_clock::now() + 5s)) tell('i');
      wait_for_the_end();
    });
    EXPECT_EQ(one->hear(), 'i');
    return one;
  }

  memory* shared;
};

TEST_F(embedded_gate, lets_one_in_at_a_time) {
  std::vector<std::thread> threads;
  long plain = 0;  // guarded by the gate alone
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      gate g = own();
      for (int i = 0; i < 5'000; ++i) {
        ASSERT_FALSE(g.enter(boot_clock::now() + 20s));
        ++plain;
        g.leave();
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(plain, 20'000);
}

TEST_F(embedded_gate, lets_one_process_in_at_a_time) {
  std::vector<std::unique_ptr<child>> all;
  for (int p = 0; p < 3; ++p)
    all.push_back(std::make_unique<child>([this](const child::tell&) {
      gate g = own();
      for (int i = 0; i < 5'000; ++i) {
        if (g.enter(boot_clock::now() + 20s)) ::_exit(1);
        shared->count.store(shared->count.load(std::memory_order_relaxed) + 1,
                            std::memory_order_relaxed);
        g.leave();
      }
    }));
  for (auto& one : all) EXPECT_EQ(one->exit_code(), 0);
  EXPECT_EQ(shared->count.load(), 15'000);
}

TEST_F(embedded_gate, names_the_process_that_is_stopped_inside) {
  const auto blocker = somebody_inside();
  blocker->stop();
  gate g = own();
  const auto start = boot_clock::now();
  const auto failed = g.enter(start + 100ms);
  EXPECT_EQ(failed.code, errc::unavailable);
  EXPECT_EQ(failed.detail.str(), "process " + std::to_string(blocker->pid()) +
                                     " is stopped inside a step; continue or kill it");
  EXPECT_GE(boot_clock::now() - start, 100ms);
  EXPECT_LT(boot_clock::now() - start, 100ms + 2s * slowness);
}

TEST_F(embedded_gate, does_not_wait_for_a_deadline_that_has_passed) {
  const auto blocker = somebody_inside();
  gate g = own();
  EXPECT_EQ(g.enter(boot_clock::now() - 1h).code, errc::timed_out);
  EXPECT_FALSE(g.try_enter());
}

TEST_F(embedded_gate, opens_when_the_process_inside_dies) {
  auto blocker = somebody_inside();
  std::thread waits{[&] {
    gate g = own();
    EXPECT_FALSE(g.enter(boot_clock::now() + 20s));
    g.leave();
  }};
  blocker->end();
  waits.join();
  gate g = own();
  EXPECT_TRUE(g.try_enter()) << "and stays usable";
  g.leave();
}

TEST_F(embedded_gate, survives_many_deaths_inside) {
  for (int i = 0; i < 50; ++i) somebody_inside()->end();
  gate g = own();
  EXPECT_FALSE(g.enter(boot_clock::now() + 5s));
  g.leave();
}

}  // namespace
}  // namespace afar::test
