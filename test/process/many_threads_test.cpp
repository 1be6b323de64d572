// Two hundred threads of one process, on one name and on two hundred: every count is exact.
#include "scene.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <afar/counter.hpp>
#include <afar/fair_mutex.hpp>
#include <afar/mutex.hpp>

#include <gtest/gtest.h>

#include <array>
#include <mutex>
#include <string>

namespace afar::test {
namespace {

constexpr int many = 200;
constexpr int turns = 20;

class many_threads : public ::testing::Test {
 protected:
  scene stage;
  client locks = stage.client();
};

template <class Mutex>
void count_on_one_name(const client& locks) {
  long count = 0;  // no atomic: the lock is what protects it
  in_parallel(many, [&](int) {
    Mutex m{locks, "x"};
    for (int i = 0; i < turns; ++i) {
      const std::scoped_lock guard{m};
      ++count;
    }
  });
  EXPECT_EQ(count, many * turns);
}

TEST_F(many_threads, on_one_name) { count_on_one_name<mutex>(locks); }
TEST_F(many_threads, on_one_name_in_order) { count_on_one_name<fair_mutex>(locks); }

TEST_F(many_threads, with_clients_of_their_own) {
  long count = 0;
  in_parallel(40, [&](int) {
    const client own = stage.client();
    mutex m{own, "x"};
    for (int i = 0; i < turns; ++i) {
      const std::scoped_lock guard{m};
      ++count;
    }
  });
  EXPECT_EQ(count, 40 * turns);
}

TEST_F(many_threads, on_as_many_names) {
  std::array<long, many> counts{};
  in_parallel(many, [&](int me) {
    for (int i = 0; i < turns; ++i) {
      const auto which = static_cast<std::size_t>((me + i) % many);  // every name has 20 visitors
      mutex m{locks, "x" + std::to_string(which)};
      const std::scoped_lock guard{m};
      ++counts[which];
    }
  });
  for (const long count : counts) EXPECT_EQ(count, turns);
}

TEST_F(many_threads, on_one_counter) {
  in_parallel(many, [&](int) {
    counter c{locks, "x"};
    for (int i = 0; i < turns; ++i) c.fetch_add(1);
  });
  EXPECT_EQ(counter(locks, "x").load(), many * turns);
}

}  // namespace
}  // namespace afar::test
