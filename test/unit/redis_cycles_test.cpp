// A million times lock and unlock leave nothing behind: not here, not on the server.
#include "support/redis_server.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>

#include <malloc.h>

#include <filesystem>
#include <iterator>
#include <string>

namespace afar::test {
namespace {

std::size_t entries_of(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{folder},
                                                std::filesystem::directory_iterator{}));
}

// What this process and the server have.
struct belongings {
  std::size_t bytes, files, threads;
  std::string keys;

  static belongings of(const redis_server& s) {
    return {.bytes = ::mallinfo2().uordblks,
            .files = entries_of("/proc/self/fd"),
            .threads = entries_of("/proc/self/task"),
            .keys = s.ask({"DBSIZE"})};
  }
};

class redis_cycles : public ::testing::TestWithParam<const char*> {};

TEST_P(redis_cycles, a_million_leave_nothing_behind) {
  constexpr int workers = 8;
  const redis_server server;
  const client c{server.url() + "?layout=" + GetParam()};
  // Every other name is shared by two, so that there are waiters too.
  const auto work = [&](int cycles) {
    in_parallel(workers, [&](int i) {
      mutex m{c, "cycle-" + std::to_string(i % 2 == 0 ? i : i / 4)};
      for (int n = 0; n < cycles; ++n) {
        m.lock();
        m.unlock();
      }
    });
    return eventually([&] { return survey(c).empty(); });
  };
  ASSERT_TRUE(work(12'500)) << "warm-up";
  const auto before = belongings::of(server);
  ASSERT_TRUE(work(1'000'000 / workers));
  const auto after = belongings::of(server);
  EXPECT_LT(after.bytes, before.bytes + 64 * 1024);
  EXPECT_EQ(after.files, before.files);
  EXPECT_EQ(after.threads, before.threads);
  EXPECT_EQ(after.keys, before.keys);
}

INSTANTIATE_TEST_SUITE_P(all, redis_cycles, ::testing::Values("afar", "redisson"),
                         [](const auto& p) { return std::string{p.param}; });

}  // namespace
}  // namespace afar::test
