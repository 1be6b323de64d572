#include <afar/fence.hpp>

#include "fence_support.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

namespace afar {
namespace {

using namespace test;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

enum class form { memory, file };
class any_fence : public ::testing::TestWithParam<form> {
 protected:
  fence make() const { return GetParam() == form::memory ? fence{} : fence::in_file(here_.file()); }

 private:
  folder here_;
};
INSTANTIATE_TEST_SUITE_P(, any_fence, ::testing::Values(form::memory, form::file),
                         [](const auto& i) {
                           return i.param == form::memory ? std::string{"memory"}
                                                          : std::string{"file"};
                         });

TEST_P(any_fence, admits_tokens_that_do_not_fall) {
  fence f = make();
  EXPECT_EQ(f.largest(), 0U);
  EXPECT_TRUE(f.admit(5));
  EXPECT_TRUE(f.admit(5));
  EXPECT_FALSE(f.admit(4));
  EXPECT_TRUE(f.admit(6));
  EXPECT_FALSE(f.admit(5));
  EXPECT_EQ(f.largest(), 6U);
  EXPECT_TRUE(f.admit(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_FALSE(f.admit(6));
}

TEST_P(any_fence, never_admits_zero) {
  fence f = make();
  EXPECT_FALSE(f.admit(0));
  bool ran = false;
  EXPECT_FALSE(f.guard(0, [&] { ran = true; }));
  EXPECT_FALSE(ran);
}

TEST_P(any_fence, has_a_twin_that_does_not_throw) {
  fence f = make();
  std::error_code error = errc::closed;
  EXPECT_TRUE(f.admit(2, error));
  EXPECT_FALSE(error);
  EXPECT_FALSE(f.admit(1, error));
  EXPECT_FALSE(error);
}

TEST_P(any_fence, can_be_moved) {
  fence f = make();
  f.admit(7);
  fence g = std::move(f);
  EXPECT_FALSE(g.admit(6));
  f = std::move(g);
  EXPECT_EQ(f.largest(), 7U);
}

TEST_P(any_fence, runs_a_write_only_if_its_token_is_admitted) {
  fence f = make();
  std::string log;
  EXPECT_TRUE(f.guard(2, [&] { log += "two "; }));
  EXPECT_FALSE(f.guard(1, [&] { log += "one "; }));
  EXPECT_TRUE(f.guard(2, [&] { log += "again"; }));
  EXPECT_EQ(log, "two again");
}

TEST_P(any_fence, lets_nobody_in_while_a_write_runs) {
  fence f = make();
  std::uint64_t written = 0;  // not atomic: the fence must order the accesses
  std::atomic<int> refused{0};
  in_parallel(4, [&](int t) {
    for (std::uint64_t i = 0; i < 300; ++i) {
      const std::uint64_t token = 1 + i * 4 + static_cast<std::uint64_t>(t);
      const bool ran = f.guard(token, [&] {
        EXPECT_LT(written, token);
        written = token;
      });
      if (!ran) ++refused;
    }
  });
  EXPECT_EQ(written, f.largest());
  EXPECT_EQ(written, 1'200U);
}

TEST_P(any_fence, stays_usable_after_a_write_that_throws) {
  fence f = make();
  EXPECT_THROW(f.guard(3, [] { throw std::runtime_error("disk on fire"); }), std::runtime_error);
  EXPECT_EQ(f.largest(), 3U);
  EXPECT_TRUE(f.admit(4));
}

TEST_P(any_fence, refuses_a_write_that_uses_its_own_fence) {
  fence f = make();
  f.guard(1, [&] {
    EXPECT_EQ(thrown_by([&] { f.admit(2); }), errc::deadlock);
    EXPECT_EQ(f.largest(), 1U);  // looking is allowed
  });
  EXPECT_TRUE(f.admit(2));
}

TEST(file_fence, is_remembered_by_those_who_come_later) {
  const folder here;
  fence::in_file(here.file()).admit(41);
  fence second = fence::in_file(here.file());
  EXPECT_EQ(second.largest(), 41U);
  EXPECT_FALSE(second.admit(40));
}

TEST(file_fence, is_made_for_its_user_only) {
  const folder here;
  const auto before = ::umask(0);
  fence::in_file(here.file());
  ::umask(before);
  EXPECT_EQ(fs::status(here.file()).permissions(), fs::perms{0600});
}

TEST(file_fence, excludes_other_objects_of_the_same_file) {
  const folder here;
  fence one = fence::in_file(here.file());
  fence two = fence::in_file(here.file());
  std::atomic<bool> inside{false};
  in_parallel(2, [&](int t) {
    fence& mine = t == 0 ? one : two;
    for (std::uint64_t i = 1; i <= 300; ++i) {
      mine.guard(i, [&] {
        EXPECT_FALSE(inside.exchange(true));
        inside = false;
      });
    }
  });
}

void overwrite(const std::string& path, std::streamoff at, const std::string& bytes) {
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  file.seekp(at).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

TEST(file_fence, survives_damage_to_either_copy_of_its_token) {
  for (const std::streamoff at : {16, 24, 32, 40}) {
    const folder here;
    fence f = fence::in_file(here.file());
    f.admit(9);
    overwrite(here.file(), at, "xx");
    EXPECT_EQ(f.largest(), 9U) << at;
    EXPECT_FALSE(f.admit(8)) << at;
    EXPECT_TRUE(f.admit(10)) << at;
    overwrite(here.file(), at < 32 ? 32 : 16, "xx");  // the first was repaired meanwhile
    EXPECT_EQ(f.largest(), 10U) << at;
  }
}

TEST(file_fence, says_so_when_it_is_damaged) {
  for (const std::string content :
       {"x", "afarfenc", "not a fence at all, but some text of sufficient length"}) {
    const folder here;
    std::ofstream{here.file()} << content;
    ::chmod(here.file().c_str(), 0600);
    const auto f = failure_of([&] { fence::in_file(here.file()); });
    EXPECT_EQ(f.code, errc::damaged);
    EXPECT_EQ(f.resource, here.file());
    std::ifstream file{here.file()};
    EXPECT_EQ((std::string{std::istreambuf_iterator<char>{file}, {}}), content)
        << "was overwritten";
  }
  const folder here;
  fence f = fence::in_file(here.file());
  overwrite(here.file(), 16, std::string(32, 'x'));
  std::error_code error;
  EXPECT_FALSE(f.admit(1, error));
  EXPECT_EQ(error, errc::damaged);
  fs::resize_file(here.file(), 0);
  EXPECT_EQ(thrown_by([&] { f.admit(1); }), errc::damaged);
}

TEST(file_fence, does_not_start_again_when_its_file_is_deleted) {
  const folder here;
  fence f = fence::in_file(here.file());
  f.admit(5);
  fs::remove(here.file());
  const auto failed = failure_of([&] { f.admit(4); });
  EXPECT_EQ(failed.code, errc::unavailable);
  EXPECT_THAT(failed.message, HasSubstr("somebody has deleted the file"));
}

TEST(file_fence, names_what_stands_in_its_way) {
  const folder here;
  const auto missing = failure_of([&] { fence::in_file(here.file("no/such/folder")); });
  EXPECT_EQ(missing.code, errc::unavailable);
  EXPECT_THAT(missing.message, HasSubstr("its folder does not exist"));

  fs::create_directory(here.file("folder"));
  EXPECT_THAT(failure_of([&] { fence::in_file(here.file("folder")); }).message,
              HasSubstr("folder"));

  fence::in_file(here.file());
  fs::create_symlink(here.file(), here.file("link"));
  const auto link = failure_of([&] { fence::in_file(here.file("link")); });
  EXPECT_EQ(link.code, errc::denied);
  EXPECT_THAT(link.message, HasSubstr("symbolic link"));

  ASSERT_EQ(::mkfifo(here.file("pipe").c_str(), 0600), 0);
  EXPECT_THAT(failure_of([&] { fence::in_file(here.file("pipe")); }).message,
              HasSubstr("not a regular file"));

  ::chmod(here.file().c_str(), 0644);
  const auto open = failure_of([&] { fence::in_file(here.file()); });
  EXPECT_EQ(open.code, errc::denied);
  EXPECT_THAT(open.message, HasSubstr("its mode must be 0600"));
}

TEST(file_fence, refuses_a_file_of_another_user) {
  const folder here;
  fence::in_file(here.file());
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(here.file().c_str(), 12'345, 12'345), 0);
    const auto f = failure_of([&] { fence::in_file(here.file()); });
    EXPECT_EQ(f.code, errc::denied);
    EXPECT_THAT(f.message, HasSubstr("belongs to user 12345"));
  } else {
    const auto f = failure_of([&] { fence::in_file("/etc/passwd"); });
    EXPECT_EQ(f.code, errc::denied);
  }
}

}  // namespace
}  // namespace afar
