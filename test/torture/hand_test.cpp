// What a worker's thread records must not blame the library for what happened to the thread.
#include "torture/hand.hpp"

#include "torture/process.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace afar::torture {
namespace {

using namespace std::chrono_literals;

// A process that was stopped after the time of a call was settled and before its question was stamped seemed
// to come back late by all of the stop: the stop lay before the stamp.
TEST(torture_hand, asks_at_the_moment_from_which_the_time_of_its_call_counts) {
  const temporary_folder folder{"afar-torture-test"};
  plan todo;
  todo.folder = folder.path();
  todo.objects = {{sort::mutex, "x"}};
  control orders;
  workplace at{todo, orders, "memory:", 0, 0};
  const hand me{at, 0};
  me.ask(0, {}, 200ms);
  const auto facts = at.record.facts();
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].until - facts[0].at, std::chrono::nanoseconds{200ms}.count());
}

}  // namespace
}  // namespace afar::torture
