#include "embedded_fixture.hpp"
#include "engines/embedded/sessions.hpp"
#include "support/patience.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>

namespace afar::test {
namespace {

using engines::embedded::session_id;
using engines::embedded::sessions;

class embedded_session : public ::testing::Test {
 protected:
  embedded_session() { ::mkdir(folder.path().c_str(), 0700); }

  std::size_t files() const {
    const std::filesystem::directory_iterator all{folder.path()};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  // The one session that is not ours.
  session_id other_than(session_id mine) const {
    for (const auto& file : std::filesystem::directory_iterator{folder.path()}) {
      const auto id = std::stoull(file.path().filename().string(), nullptr, 16);
      if (id != mine) return id;
    }
    return 0;
  }
  std::unique_ptr<child> somebody() const {
    auto one = std::make_unique<child>([this](const child::tell& tell) {
      const sessions own{folder.path()};
      tell('s');
      wait_for_the_end();
    });
    EXPECT_EQ(one->hear(), 's');
    return one;
  }

  scratch_folder folder;
};

TEST_F(embedded_session, is_a_locked_file_and_goes_with_its_object) {
  {
    sessions own{folder.path()};
    EXPECT_TRUE(own.alive(own.own()));
    EXPECT_TRUE(own.present());
    EXPECT_EQ(files(), 1U);
  }
  EXPECT_EQ(files(), 0U);
}

TEST_F(embedded_session, of_another_process_lives_as_long_as_that) {
  sessions own{folder.path()};
  const auto other = somebody();
  const session_id id = other_than(own.own());
  EXPECT_TRUE(own.alive(id));
  other->stop();
  EXPECT_TRUE(own.alive(id)) << "stopped is not dead";
  other->end();
  EXPECT_TRUE(eventually([&] { return !own.alive(id); }, 1s));
  EXPECT_EQ(own.take_dead(), std::vector{id});
  own.bury(id);
  EXPECT_EQ(files(), 1U);
  EXPECT_FALSE(own.alive(id)) << "dead for ever";
}

TEST_F(embedded_session, death_is_seen_within_milliseconds) {
  sessions own{folder.path()};
  const auto other = somebody();
  const session_id id = other_than(own.own());
  ASSERT_TRUE(own.alive(id));
  other->end();
  const auto seen = time_of([&] { EXPECT_TRUE(eventually([&] { return !own.alive(id); })); });
  EXPECT_LT(seen, 50ms * slowness);
}

TEST_F(embedded_session, lock_is_not_inherited_by_a_child) {
  sessions own{folder.path()};
  const auto parent = std::make_unique<child>([this](const child::tell& tell) {
    const sessions mine{folder.path()};
    if (::fork() == 0) {
      ::alarm(3);  // lives on, but not for ever
      wait_for_the_end();
    }
    tell('s');
    wait_for_the_end();
  });
  ASSERT_EQ(parent->hear(), 's');
  const session_id id = other_than(own.own());
  EXPECT_TRUE(own.alive(id));
  parent->end();
  EXPECT_TRUE(eventually([&] { return !own.alive(id); }, 1s));
}

TEST_F(embedded_session, of_a_second_copy_of_the_library_counts_as_alive) {
  sessions own{folder.path()};
  auto copy = std::make_unique<sessions>(folder.path());
  const session_id id = copy->own();
  EXPECT_NE(id, own.own());
  EXPECT_TRUE(own.alive(id));
  // The test above must not have dropped a lock: others still see both.
  child other{[&](const child::tell& tell) {
    sessions mine{folder.path()};
    tell(mine.alive(id) && mine.alive(own.own()) ? 'y' : 'n');
  }};
  EXPECT_EQ(other.hear(), 'y');
  copy.reset();
  EXPECT_FALSE(own.alive(id));
}

TEST_F(embedded_session, look_around_finds_the_dead) {
  session_id dead = 0;
  {
    const auto other = somebody();
    dead = other_than(0);
  }
  sessions own{folder.path()};
  own.look_around();
  EXPECT_EQ(own.take_dead(), std::vector{dead});
}

TEST_F(embedded_session, file_that_was_never_named_is_removed_when_old) {
  const std::string young = folder.file("new-0000000000000001");
  const std::string old = folder.file("new-0000000000000002");
  std::ofstream{young} << "x";
  std::ofstream{old} << "x";
  std::filesystem::last_write_time(old, std::filesystem::file_time_type::clock::now() - 1min);
  sessions own{folder.path()};
  own.look_around();
  EXPECT_TRUE(std::filesystem::exists(young));
  EXPECT_FALSE(std::filesystem::exists(old));
}

TEST_F(embedded_session, notices_that_its_file_was_removed) {
  const sessions own{folder.path()};
  std::filesystem::remove_all(folder.path());
  EXPECT_FALSE(own.present());
}

TEST_F(embedded_session, of_nobody_is_dead) {
  sessions own{folder.path()};
  EXPECT_FALSE(own.alive(12345));
}

}  // namespace
}  // namespace afar::test
