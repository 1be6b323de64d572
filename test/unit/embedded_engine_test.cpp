#include "embedded_fixture.hpp"
#include "engine_fixture.hpp"
#include "engines/embedded/environment.hpp"
#include "engines/embedded/keys.hpp"
#include "support/patience.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <set>

namespace afar::test {
namespace {

using ::testing::HasSubstr;

class embedded_engine : public ::testing::Test {
 protected:
  std::unique_ptr<spi::engine> open() { return open_folder(folder.path(), host); }

  // Acquires in another process, which then stays.
  std::unique_ptr<child> somebody_with(const std::string& name, kind k = kind::mutex) {
    auto one = std::make_unique<child>([this, name, k](const child::tell& tell) {
      const auto mine = open();
      const auto got = acquire(*mine, static_cast<std::uint64_t>(::getpid()), name, k);
      tell(got.reply.granted ? 'g' : 'r');
      wait_for_the_end();
    });
    last_answer = one->hear();
    return one;
  }
  std::string shard_of(const std::string& name) const {
    const auto n = engines::embedded::site{name}.shard();
    return folder.file((n < 10 ? "shard-0" : "shard-") + std::to_string(n));
  }

  scratch_folder folder;
  recording_host host;
  char last_answer = 0;
};

TEST_F(embedded_engine, excludes_other_processes) {
  const auto engine = open();
  const auto other = somebody_with("x");
  EXPECT_EQ(last_answer, 'g');
  const auto mine = acquire(*engine, 1, "x");
  EXPECT_FALSE(mine.status);
  EXPECT_FALSE(mine.reply.granted);
  EXPECT_FALSE(mine.reply.watch_key.empty());
  EXPECT_LE(mine.reply.retry_after.value(), 20ms) << "the other process may die";
}

TEST_F(embedded_engine, frees_what_a_dead_process_held_at_once) {
  const auto engine = open();
  auto holder = somebody_with("x");
  auto waiter = somebody_with("x");
  EXPECT_EQ(last_answer, 'r');
  holder->end();
  waiter->end();
  EXPECT_TRUE(eventually([&] { return acquire(*engine, 1, "x").reply.granted; }, 1s));
  EXPECT_TRUE(eventually([&] {  // and its session's file is gone
    const std::filesystem::directory_iterator all{folder.file("sessions")};
    acquire(*engine, 1, "x");
    return std::distance(begin(all), end(all)) == 1;
  }));
}

TEST_F(embedded_engine, wakes_the_one_whose_turn_it_is_in_another_process) {
  const auto engine = open();
  acquire(*engine, 1, "x");
  std::vector<std::unique_ptr<child>> waiters;
  for (const char name : {'a', 'b'}) {
    waiters.push_back(std::make_unique<child>([this, name](const child::tell& tell) {
      recording_host own;
      const auto mine = open_folder(folder.path(), own);
      const auto refused = acquire(*mine, static_cast<std::uint64_t>(name), "x");
      watch(*mine, refused.reply.watch_key);
      tell('w');
      if (eventually([&] { return !own.woken().empty(); }, 30s)) tell(name);
      wait_for_the_end();
    }));
    ASSERT_EQ(waiters.back()->hear(), 'w');
  }
  release(*engine, 1, "x");
  EXPECT_EQ(waiters[0]->hear(), 'a') << "first come, first served";
}

TEST_F(embedded_engine, a_name_is_one_thing) {
  const auto engine = open();
  acquire(*engine, 1, "m");
  change(*engine, add(1, "c"));
  const auto counted = change(*engine, add(1, "m"));
  EXPECT_EQ(counted.status.code, errc::wrong_use);
  EXPECT_EQ(counted.status.detail.str(), "is a mutex, not a counter");
  const auto locked = acquire(*engine, 2, "c");
  EXPECT_EQ(locked.status.code, errc::wrong_use);
  EXPECT_EQ(locked.status.detail.str(), "is a counter, not a mutex");
  spi::ledger_change define;
  define.what = {kind::stock, "c"};
  define.action = spi::ledger_action::define;
  EXPECT_EQ(record(*engine, define).status.code, errc::wrong_use);
  define.what.name = "s";
  EXPECT_FALSE(record(*engine, define).status);
  EXPECT_EQ(acquire(*engine, 3, "s").status.detail.str(), "is a stock, not a mutex");
  EXPECT_EQ(change(*engine, add(1, "s")).status.detail.str(), "is a stock, not a counter");
}

TEST_F(embedded_engine, a_name_that_nobody_uses_any_more_may_become_something_else) {
  const auto engine = open();
  acquire(*engine, 1, "x");
  release(*engine, 1, "x");
  EXPECT_FALSE(change(*engine, add(1, "x")).status);
  spi::cell_change erase = add(0, "x");
  erase.action = spi::cell_action::erase;
  EXPECT_TRUE(change(*engine, erase).reply.applied);
  EXPECT_TRUE(acquire(*engine, 2, "x").reply.granted);
}

TEST_F(embedded_engine, keeps_long_names_apart) {
  const auto engine = open();
  std::vector<std::string> names;
  for (const std::size_t size : {479U, 480U, 481U, 1'024U})
    for (const char last : {'a', 'b'}) names.push_back(std::string(size - 1, 'x') + last);
  std::uint64_t n = 0;
  for (const auto& name : names) EXPECT_TRUE(acquire(*engine, ++n, name).reply.granted);
  for (const auto& name : names) EXPECT_FALSE(acquire(*engine, ++n, name).reply.granted);
  std::set<std::string> found;
  for (const auto& entry : survey(*engine, {}).entries) found.insert(entry.name);
  EXPECT_EQ(found, (std::set<std::string>{names.begin(), names.end()}));
  EXPECT_EQ(acquire(*engine, 99, std::string(1'025, 'x')).status.code, errc::bad_argument);
  EXPECT_EQ(acquire(*engine, 99, "").status.code, errc::bad_argument);
}

TEST_F(embedded_engine, renews_many_at_once_and_answers_for_each) {
  const auto engine = open();
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("n" + std::to_string(i));
  std::vector<spi::claim> claims;
  for (std::size_t i = 0; i < names.size(); ++i) {
    claims.push_back(claim_of(i + 1, names[i]));
    if (i % 2 == 0) claims.back().token = acquire(*engine, claims.back()).reply.token;
  }
  std::vector<spi::claim*> all;
  for (auto& c : claims) all.push_back(&c);
  std::vector<int> answers(names.size());
  engine->renew(all, never, [&](std::size_t i, spi::status s, spi::renew_reply r) {
    EXPECT_FALSE(s);
    EXPECT_EQ(r.why, i % 2 == 0 ? loss::none : loss::expired) << i;
    ++answers[i];
  });
  EXPECT_EQ(answers, std::vector<int>(names.size(), 1));
}

TEST_F(embedded_engine, surveys_in_pages) {
  const auto engine = open();
  std::set<std::string> names;
  for (int i = 0; i < 300; ++i) {
    names.insert("n" + std::to_string(i));
    acquire(*engine, static_cast<std::uint64_t>(i + 1), "n" + std::to_string(i));
  }
  change(*engine, add(1, "counter"));
  std::set<std::string> found;
  std::string cursor;
  do {
    const std::string from = cursor;
    auto page = survey(*engine, {.kind = kind::mutex, .cursor = from, .most = 7});
    EXPECT_LE(page.entries.size(), 7U);
    for (const auto& entry : page.entries) EXPECT_TRUE(found.insert(entry.name).second);
    cursor = page.cursor;
  } while (!cursor.empty());
  EXPECT_EQ(found, names);
  const auto one = survey(*engine, {.name = "n5"});
  ASSERT_EQ(one.entries.size(), 1U);
  EXPECT_EQ(one.entries[0].holders.size(), 1U);
  EXPECT_FALSE(one.watch_key.empty());
}

TEST_F(embedded_engine, wakes_who_watches_a_name) {
  const auto engine = open();
  const auto key = survey(*engine, {.name = "x"}).watch_key;
  watch(*engine, key);
  acquire(*engine, 1, "x");
  EXPECT_EQ(host.woken(), std::vector{key});
  engine->unwatch(key);
  release(*engine, 1, "x");
  EXPECT_TRUE(host.woken().empty());
}

TEST_F(embedded_engine, is_refused_in_a_forked_child_and_nothing_is_closed_there) {
  auto engine = open();
  acquire(*engine, 1, "x");
  child forked{[&](const child::tell& tell) {
    const bool inert = acquire(*engine, 2, "y").status.code == errc::forked &&
                       change(*engine, add(1, "c")).status.code == errc::forked &&
                       release(*engine, 1, "x").status.code == errc::forked;
    engine.reset();
    const auto own = open_folder(folder.path(), host);  // one of its own works
    const bool excluded = !acquire(*own, 3, "x").reply.granted;
    tell(inert && excluded ? 'y' : 'n');
  }};
  EXPECT_EQ(forked.hear(), 'y');
  EXPECT_EQ(forked.exit_code(), 0);
  EXPECT_EQ(release(*engine, 1, "x").reply, release_reply::released);
}

TEST_F(embedded_engine, can_end_on_its_own_thread) {
  struct ending_host final : spi::host {
    void wake(std::string_view) noexcept override {
      last.reset();
      ended = true;
    }
    void wake_all() noexcept override {}
    void granted(const spi::owner_id&, std::uint64_t, std::uint64_t,
                 spi::milliseconds) noexcept override {}
    void asked(const spi::owner_id&) noexcept override {}
    void session_lost() noexcept override {}
    std::unique_ptr<spi::engine> last;
    std::atomic<bool> ended{false};
  } up;
  up.last = open_folder(folder.path(), up);
  watch(*up.last, survey(*up.last, {.name = "x"}).watch_key);
  const auto other = somebody_with("x");  // rings; the bell thread hears it
  EXPECT_TRUE(eventually([&] { return up.ended.load(); }));
  EXPECT_TRUE(eventually([&] {
    const std::filesystem::directory_iterator all{folder.file("sessions")};
    return std::distance(begin(all), end(all)) == 1;
  })) << "the session has ended too";
}

TEST_F(embedded_engine, engines_of_one_process_share_a_session) {
  const auto a = open();
  const auto b = open();
  const std::filesystem::directory_iterator all{folder.file("sessions")};
  EXPECT_EQ(std::distance(begin(all), end(all)), 1);
  EXPECT_TRUE(acquire(*a, 1, "x").reply.granted);
  EXPECT_FALSE(acquire(*b, 2, "x").reply.granted);
}

TEST_F(embedded_engine, notices_that_its_folder_was_removed) {
  const auto engine = open();
  acquire(*engine, 1, "x");
  std::filesystem::remove_all(folder.path());
  EXPECT_TRUE(eventually([&] {
    const auto s = acquire(*engine, 1, "x").status;
    return s.code == errc::unavailable && s.detail.str().find("removed") != std::string::npos;
  }));
  EXPECT_TRUE(acquire(*open(), 2, "x").reply.granted) << "a new client makes a new folder";
}

TEST_F(embedded_engine, says_that_a_record_is_damaged) {
  const auto engine = open();
  acquire(*engine, 1, "x");
  {
    std::atomic<std::uint64_t> room{0};
    engines::embedded::environment env{shard_of("x"), false, room};
    engines::embedded::environment::transaction change{env};
    const auto bytes = change.put("nx", 30);
    std::ranges::fill(bytes, std::byte{0x55});
    change.commit();
  }
  const auto failed = acquire(*engine, 1, "x");
  EXPECT_EQ(failed.status.code, errc::damaged);
  EXPECT_THAT(failed.status.detail.str(), HasSubstr("'x'"));
}

TEST_F(embedded_engine, remakes_a_shard_that_a_killed_process_had_only_begun_to_make) {
  const auto engine = open();
  std::ofstream{shard_of("x")} << "less than two pages";
  EXPECT_TRUE(acquire(*engine, 1, "x").reply.granted);
}

TEST_F(embedded_engine, a_durable_folder_works_and_stays_durable) {
  {
    const auto engine = open_folder(folder.path(), host, "durable");
    EXPECT_TRUE(engine->about().survives_restart);
    EXPECT_TRUE(acquire(*engine, 1, "x").reply.granted);
    EXPECT_EQ(change(*engine, add(2, "c")).reply.value, 2);
  }
  const auto engine = open();
  EXPECT_TRUE(engine->about().survives_restart) << "whoever opens it";
  EXPECT_EQ(change(*engine, add(2, "c")).reply.value, 4);
}

// A store into a hole of a full file system would be SIGBUS.
TEST_F(embedded_engine, a_full_file_system_is_an_error_and_nothing_is_half_done) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can mount";
  ::mkdir(folder.path().c_str(), 0700);
  if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=6m,mode=0700") != 0)
    GTEST_SKIP() << "cannot mount here";
  {
    const auto engine = open();
    std::vector<std::string> held;
    spi::status failed;
    for (std::uint64_t n = 1; !failed && n < 100'000; ++n) {
      const std::string name = "n" + std::to_string(n);
      spi::claim c = claim_of(n, name);
      const std::string note(900, 'n');
      c.note = note;
      failed = acquire(*engine, c).status;
      if (!failed) held.push_back(name);
    }
    EXPECT_EQ(failed.code, errc::no_room);
    EXPECT_GT(held.size(), 100U);
    EXPECT_EQ(survey(*engine, {.most = 1'000'000}).entries.size(), held.size());
    for (std::size_t i = 0; i < held.size(); ++i)
      EXPECT_EQ(release(*engine, i + 1, held[i]).reply, release_reply::released);
  }
  ::umount(folder.path().c_str());
}

}  // namespace
}  // namespace afar::test
