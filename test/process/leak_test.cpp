// After everybody is gone, whether they left or were killed, nothing remains but token floors, and
// after a while not even those.
#include "actor.hpp"
#include "scene.hpp"
#include "support/patience.hpp"

#include <gtest/gtest.h>
#include <lmdb.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace afar::test {
namespace {

const std::vector<std::string> kinds{"mutex",  "fair_mutex", "shared_mutex",
                                     "reader", "permits",    "election"};

namespace fs = std::filesystem;

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator{folder}, fs::directory_iterator{}));
}

// Of one of the engine's LMDB files. Nobody else may have it open in this process.
std::size_t records_in(const std::string& path) {
  MDB_env* env = nullptr;
  MDB_stat about{};
  if (::mdb_env_create(&env) == 0 &&
      ::mdb_env_open(env, path.c_str(), MDB_NOSUBDIR | MDB_NOLOCK | MDB_RDONLY, 0) == 0)
    ::mdb_env_stat(env, &about);
  ::mdb_env_close(env);
  return about.ms_entries;
}

std::size_t records(const std::string& folder) {
  std::size_t sum = 0;
  for (const auto& file : fs::directory_iterator{folder})
    if (file.path().filename().string().starts_with("shard")) sum += records_in(file.path());
  return sum;
}

TEST(leak, there_is_none_after_kills_of_holders_and_waiters) {
  scene stage;
  {
    std::vector<std::unique_ptr<actor>> all;
    const auto add = [&]() -> actor& {
      all.push_back(std::make_unique<actor>(stage));
      return *all.back();
    };
    for (const std::string& kind : kinds) {
      ASSERT_TRUE(add().acquire(kind, kind));
      if (kind == "reader") continue;
      add().send_acquire(kind, kind);
      ASSERT_TRUE(stage.becomes(kind, 1, 1));
    }
    // Some are killed, some leave: as holders and as waiters.
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i % 3 != 2) all[i]->kill();
  }  // the rest is killed here

  EXPECT_TRUE(eventually([&] {
    const auto entries = stage.survey();
    return std::all_of(entries.begin(), entries.end(),
                       [](const spi::entry& e) { return e.holders.empty() && e.waiters.empty(); });
  })) << "a dead process still holds or waits";
  EXPECT_GT(records(stage.path("engine")), 0U) << "a token floor must outlive its holder";
  EXPECT_TRUE(eventually(
      [&] {
        static_cast<void>(stage.survey());  // whoever looks collects
        return records(stage.path("engine")) == 0;
      },
      40s))
      << records(stage.path("engine")) << " records stayed";
  EXPECT_EQ(files_in(stage.path("engine/sessions")), 0U);
}

TEST(leak, there_is_none_after_processes_that_leave_in_peace) {
  scene stage;
  for (int i = 0; i < 5; ++i) {
    actor guest{stage};
    for (const std::string& kind : kinds) ASSERT_TRUE(guest.acquire(kind, kind));
    EXPECT_EQ(guest.leave(), 0);
  }
  for (const spi::entry& e : stage.survey()) {
    EXPECT_TRUE(e.holders.empty()) << e.name;
    EXPECT_TRUE(e.waiters.empty()) << e.name;
  }
  EXPECT_EQ(files_in(stage.path("engine/sessions")), 0U);
}

}  // namespace
}  // namespace afar::test
