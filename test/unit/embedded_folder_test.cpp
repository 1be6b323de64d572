#include "embedded_fixture.hpp"
#include "engine_fixture.hpp"
#include "engines/embedded/failure.hpp"
#include "support/patience.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <thread>

namespace afar::test {
namespace {

using engines::embedded::address;
using engines::embedded::address_of;
using engines::embedded::failure;
using engines::embedded::folder;
using engines::embedded::read_whole;
using engines::embedded::write_whole;
using ::testing::HasSubstr;

class embedded_folder : public ::testing::Test {
 protected:
  folder open() const { return folder{where.address(), boot_clock::now() + 5s}; }

  // How opening fails.
  spi::status failed() const {
    try {
      open();
    } catch (const failure& f) {
      return f.why();
    }
    return {};
  }
  void expect(errc code, const std::string& words) const {
    const spi::status f = failed();
    EXPECT_EQ(f.code, code);
    EXPECT_THAT(f.detail.str(), HasSubstr(where.path()));
    EXPECT_THAT(f.detail.str(), HasSubstr(words));
  }
  static mode_t mode(const std::string& path) {
    struct stat about{};
    ::stat(path.c_str(), &about);
    return about.st_mode & 07777U;
  }

  scratch_folder where;
  recording_host host;
};

TEST_F(embedded_folder, is_for_its_user_only) {
  const auto engine = open_folder(where.path(), host);
  acquire(*engine, 1, "x");
  EXPECT_EQ(mode(where.path()), 0700U);
  for (const auto& file : std::filesystem::recursive_directory_iterator{where.path()})
    EXPECT_EQ(mode(file.path()), file.is_directory() ? 0700U : 0600U) << file.path();
}

TEST_F(embedded_folder, that_others_may_write_is_refused) {
  ::mkdir(where.path().c_str(), 0700);
  ::chmod(where.path().c_str(), 0777);
  expect(errc::denied, "chmod 700");
}

TEST_F(embedded_folder, of_another_user_is_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ::mkdir(where.path().c_str(), 0700);
  ASSERT_EQ(::chown(where.path().c_str(), 12345, 12345), 0);
  expect(errc::denied, "belongs to user 12345");
}

TEST_F(embedded_folder, that_is_read_only_is_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can mount";
  ::mkdir(where.path().c_str(), 0700);
  if (::mount("none", where.path().c_str(), "tmpfs", MS_RDONLY, "mode=0700") != 0)
    GTEST_SKIP() << "cannot mount here";
  expect(errc::denied, "Read-only");
  ::umount(where.path().c_str());
}

TEST_F(embedded_folder, whose_parent_is_missing_is_not_made) {
  const address deep{where.path() + "/a/b", false, false};
  EXPECT_THROW((folder{deep, boot_clock::now() + 1s}), failure);
}

TEST_F(embedded_folder, with_other_files_in_it_is_left_alone) {
  ::mkdir(where.path().c_str(), 0700);
  std::ofstream{where.file("thesis.tex")} << "important";
  expect(errc::denied, "other files");
}

TEST_F(embedded_folder, of_a_newer_format_is_refused) {
  open();
  std::ofstream{where.file("format")} << "afar embedded 2\n";
  expect(errc::unsupported, "afar embedded 2");
}

TEST_F(embedded_folder, with_a_damaged_format_is_refused) {
  open();
  std::ofstream{where.file("format")} << "what?";
  expect(errc::damaged, "format");
}

TEST_F(embedded_folder, that_is_a_link_is_followed_only_where_the_user_names_it) {
  const std::string link = where.path() + "-link";
  open();
  std::filesystem::create_directory_symlink(where.path(), link);
  EXPECT_NO_THROW((folder{{link, false, false}, boot_clock::now() + 1s}));
  EXPECT_THROW((folder{{link, false, true}, boot_clock::now() + 1s}), failure);
}

TEST_F(embedded_folder, opening_waits_for_another_opener_and_names_it_in_the_end) {
  open();
  child opener{[&](const child::tell& tell) {
    const folder stays = open();
    tell('o');
    wait_for_the_end();
  }};
  ASSERT_EQ(opener.hear(), 'o');
  try {
    folder{where.address(), boot_clock::now() + 50ms};
    FAIL();
  } catch (const failure& f) {
    EXPECT_EQ(f.why().code, errc::unavailable);
    EXPECT_THAT(f.why().detail.str(), HasSubstr("process " + std::to_string(opener.pid())));
  }
  opener.end();
  EXPECT_NO_THROW(open());
}

TEST_F(embedded_folder, is_made_once_by_many_at_the_same_time) {
  std::vector<std::unique_ptr<child>> all;
  for (int i = 0; i < 8; ++i)
    all.push_back(std::make_unique<child>([&](const child::tell&) {
      const auto engine = open_folder(where.path(), host);
      if (!acquire(*engine, static_cast<std::uint64_t>(::getpid()), std::to_string(::getpid()))
               .reply.granted)
        ::_exit(1);
    }));
  for (auto& one : all) EXPECT_EQ(one->exit_code(), 0);
}

// ---- addresses --------------------------------------------------------------------------------

spi::url local() {
  spi::url u;
  u.scheme = "local";
  return u;
}

TEST(embedded_address, of_local_is_the_runtime_folder_else_shared_memory) {
  const char* had = std::getenv("XDG_RUNTIME_DIR");
  const std::string before = had == nullptr ? "" : had;
  ::setenv("XDG_RUNTIME_DIR", "/run/user/77", 1);
  EXPECT_EQ(address_of(local()).path, "/run/user/77/afar");
  ::unsetenv("XDG_RUNTIME_DIR");
  EXPECT_EQ(address_of(local()).path, "/dev/shm/afar-" + std::to_string(::geteuid()));
  if (!before.empty()) ::setenv("XDG_RUNTIME_DIR", before.c_str(), 1);
}

TEST(embedded_address, refuses_what_makes_no_sense) {
  spi::url relative;
  relative.scheme = "file";
  relative.path = "here";
  EXPECT_THROW(address_of(relative), failure);
  spi::url unknown = local();
  unknown.options["durabel"] = "1";
  EXPECT_THROW(address_of(unknown), failure);
  spi::url named = local();
  named.path = "x";
  EXPECT_THROW(address_of(named), failure);
  auto with_host = relative;  // file://var/lib/jobs
  with_host.hosts.push_back({.name = "var"});
  with_host.path = "/lib/jobs";
  EXPECT_THROW(address_of(with_host), failure);
}

// ---- boots ------------------------------------------------------------------------------------

// As if the machine had booted since.
void reboot(const scratch_folder& where) {
  std::fstream boot{where.file("boot"), std::ios::in | std::ios::out | std::ios::binary};
  boot.seekp(0);
  boot << "00000000";
}

TEST_F(embedded_folder, after_a_boot_claims_are_void_and_cells_and_stocks_are_kept) {
  spi::ledger_change define;
  define.what = {kind::stock, "s"};
  define.action = spi::ledger_action::define;
  define.amount = 5;
  child before{[&](const child::tell& tell) {
    const auto engine = open_folder(where.path(), host);
    acquire(*engine, 1, "m");
    acquire(*engine, 2, "m");  // waits
    change(*engine, add(3, "c"));
    record(*engine, define);
    tell('d');
    wait_for_the_end();
  }};
  ASSERT_EQ(before.hear(), 'd');
  before.end();
  reboot(where);

  const auto engine = open_folder(where.path(), host);
  EXPECT_EQ(survey(*engine, {}).entries.size(), 2U);
  EXPECT_EQ(change(*engine, add(1, "c")).reply.value, 4);
  define.action = spi::ledger_action::load;
  EXPECT_EQ(record(*engine, define).reply.remaining, 5);
  EXPECT_TRUE(acquire(*engine, 3, "m").reply.granted);
}

// Some containers have a boot id of their own.
TEST_F(embedded_folder, in_use_under_another_boot_id_is_refused_and_left_as_it_is) {
  child other{[&](const child::tell& tell) {
    const auto engine = open_folder(where.path(), host);
    acquire(*engine, 1, "m");
    tell('d');
    wait_for_the_end();
  }};
  ASSERT_EQ(other.hear(), 'd');
  const std::string boot = read_whole(where.file("boot"));
  reboot(where);
  try {
    open_folder(where.path(), host);
    FAIL() << "it was opened";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::unavailable);
    EXPECT_NE(std::string{e.what()}.find("process " + std::to_string(other.pid())),
              std::string::npos)
        << e.what();
  }
  write_whole(where.file("boot"), boot.data(), boot.size());
  const auto engine = open_folder(where.path(), host);
  EXPECT_FALSE(acquire(*engine, 2, "m").reply.granted) << "it still holds what it held";
}

TEST_F(embedded_folder, tokens_that_ran_ahead_of_the_clock_do_not_go_back_after_a_boot) {
  std::uint64_t last = 0;
  {
    const auto engine = open_folder(where.path(), host);
    spi::claim c = claim_of(1, "m");
    c.handoffs = 3'000'000'000;  // 50 minutes ahead
    last = acquire(*engine, c).reply.last_token;
  }
  reboot(where);
  const auto engine = open_folder(where.path(), host);
  EXPECT_GT(acquire(*engine, 2, "m").reply.token, last);
}

TEST_F(embedded_folder, the_clock_does_not_go_back_after_a_boot_with_the_wrong_date) {
  folder first = open();
  first.begin_boot();
  first.opened();
  reboot(where);
  {
    // The last boot was written down an hour from now: this one begins with a clock that is behind.
    std::fstream boot{where.file("boot"), std::ios::in | std::ios::out | std::ios::binary};
    const auto ahead = boot_clock::now().time_since_epoch() + first.calendar_offset() + 1h;
    const std::int64_t count = ahead.count();
    boot.seekp(48);
    boot.write(reinterpret_cast<const char*>(&count), sizeof count);
  }
  const folder later = open();
  EXPECT_TRUE(later.new_boot());
  EXPECT_GT(later.calendar_offset(), first.calendar_offset() + 59min);
}

}  // namespace
}  // namespace afar::test
