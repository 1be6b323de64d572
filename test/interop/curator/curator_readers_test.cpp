// Curator's InterProcessReadWriteLock and afar's shared_mutex: readers together, writers alone, and a writer
// that becomes a reader.
#include "curator_fixture.hpp"

namespace afar::test {
namespace {

class curator_readers : public curator_test {
 protected:
  shared_mutex book{locks, name};
};

TEST_P(curator_readers, of_both_are_in_together_and_keep_writers_of_both_out) {
  ASSERT_EQ(java().ask("r", of("lock read")), "ok");
  hold mine = book.try_acquire_shared_for(long_time);
  ASSERT_TRUE(mine);
  EXPECT_FALSE(book.try_lock());
  EXPECT_EQ(java().ask("w", of("try write")), "false");
  EXPECT_EQ(java().ask("r", of("unlock read")), "ok");
  EXPECT_EQ(java().ask("w", of("try write")), "false");
  java().send("w", of("lock write"));
  ASSERT_TRUE(nodes(2));
  mine.release();
  EXPECT_EQ(java().answer("w"), "ok");
  EXPECT_FALSE(book.try_lock_shared());
  EXPECT_EQ(java().ask("w", of("unlock write")), "ok");
  EXPECT_TRUE(book.try_lock_for(long_time));
}

TEST_P(curator_readers, do_not_overtake_a_writer_that_waits) {
  ASSERT_EQ(java().ask("r", of("lock read")), "ok");
  auto writer = start([&] { return book.try_acquire_for(long_time); });
  ASSERT_TRUE(nodes(2));
  java().send("s", of("lock read"));
  ASSERT_TRUE(nodes(3));
  EXPECT_FALSE(java().has_answered("s", 50ms));
  EXPECT_EQ(java().ask("r", of("unlock read")), "ok");
  hold mine = writer.get();
  ASSERT_TRUE(mine);
  EXPECT_FALSE(java().has_answered("s", 50ms));
  mine.release();
  EXPECT_EQ(java().answer("s"), "ok");
}

TEST_P(curator_readers, that_were_writers_of_afar_let_readers_of_java_in_but_no_writer) {
  hold mine = book.acquire();
  java().send("r", of("lock read"));
  ASSERT_TRUE(nodes(2));
  java().send("w", of("lock write"));
  ASSERT_TRUE(nodes(3));
  EXPECT_FALSE(java().has_answered("r", 50ms));
  book.downgrade(mine);
  EXPECT_EQ(java().answer("r"), "ok");
  EXPECT_EQ(java().ask("r", of("unlock read")), "ok");
  EXPECT_FALSE(java().has_answered("w", 200ms)) << "afar still reads";
  mine.release();
  EXPECT_EQ(java().answer("w"), "ok");
}

// Curator's form of a downgrade: take the read lock under the write lock, let go of the write lock.
TEST_P(curator_readers, that_were_writers_of_java_keep_writers_of_afar_out) {
  ASSERT_EQ(java().ask("a", of("lock write")), "ok");
  ASSERT_EQ(java().ask("a", of("lock read")), "ok");
  EXPECT_EQ(java().ask("a", of("unlock write")), "ok");
  EXPECT_FALSE(book.try_lock());
  EXPECT_TRUE(book.try_lock_shared_for(long_time));
  book.unlock_shared();
  EXPECT_EQ(java().ask("a", of("unlock read")), "ok");
  EXPECT_TRUE(book.try_lock_for(long_time));
}

// Until 5.5 its read node stood at the end of the line, behind writers that wait: CURATOR-621, which
// no other client can help.
TEST_P(curator_readers, that_were_writers_of_java_keep_their_place_since_5_5) {
  ASSERT_EQ(java().ask("a", of("lock write")), "ok");
  auto writer = start([&] { return book.try_acquire_for(long_time); });
  ASSERT_TRUE(nodes(2));
  ASSERT_EQ(java().ask("a", of("lock read")), "ok");
  EXPECT_EQ(java().ask("a", of("unlock write")), "ok");
  if (GetParam() == newer_curator)
    EXPECT_EQ(writer.wait_for(500ms), std::future_status::timeout);
  else
    EXPECT_TRUE(writer.get());
  EXPECT_EQ(java().ask("a", of("unlock read")), "ok");
  if (writer.valid()) {
    EXPECT_TRUE(writer.get());
  }
}

TEST_P(curator_readers, that_died_let_writers_in_after_their_session) {
  auto victim = start_afar();
  ASSERT_NE(victim->ask("r", "lock read " + name), "0");
  victim->kill();
  EXPECT_EQ(java().ask("w", of("try write")), "false");
  EXPECT_LT(time_of([&] { EXPECT_EQ(java().ask("w", of("lock write")), "ok"); }), after_session);
  EXPECT_EQ(java().ask("w", of("unlock write")), "ok");
  ASSERT_EQ(java().ask("r", of("lock read")), "ok");
  kill_java();
  EXPECT_FALSE(book.try_lock());
  EXPECT_LT(time_of([&] { EXPECT_TRUE(book.try_lock_for(long_time)); }), after_session);
}

AFAR_FOR_BOTH_CURATORS(curator_readers);

}  // namespace
}  // namespace afar::test
