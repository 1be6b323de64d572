// Readers and writers of shared_mutex. Its write side is also among the locks of locks_test.cpp.
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/renewed_lease.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <afar/shared_mutex.hpp>

#include <atomic>
#include <mutex>
#include <shared_mutex>

namespace afar::test {
namespace {

class shared_mutexes : public engine_test {
 protected:
  void SetUp() override { need<shared_mutex>("shared_mutex"); }
};

TEST_P(shared_mutexes, let_readers_in_together) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  mine.lock_shared();
  EXPECT_TRUE(theirs.try_lock_shared());
  EXPECT_TRUE(elsewhere([&] { return shared_mutex{one, name}.try_lock_shared(); }));
  mine.unlock_shared();
  theirs.unlock_shared();
}

TEST_P(shared_mutexes, let_several_readers_use_one_object) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  mine.lock_shared();
  EXPECT_TRUE(elsewhere([&] { return mine.try_lock_shared(); }));
  mine.unlock_shared();
  EXPECT_FALSE(theirs.try_lock());
  std::error_code ec;
  mine.unlock_shared(ec);
  EXPECT_FALSE(ec) << ec.message();
  EXPECT_TRUE(eventually([&] { return theirs.try_lock(); }));
}

TEST_P(shared_mutexes, keep_a_writer_out_while_there_is_a_reader) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  mine.lock_shared();
  EXPECT_FALSE(theirs.try_lock());
  EXPECT_FALSE(theirs.try_lock_for(10ms));
  mine.unlock_shared();
  EXPECT_TRUE(theirs.try_lock_for(long_time));
}

TEST_P(shared_mutexes, keep_readers_out_while_there_is_a_writer) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  mine.lock();
  EXPECT_FALSE(theirs.try_lock_shared());
  EXPECT_FALSE(theirs.try_lock_shared_for(10ms));
  EXPECT_FALSE(elsewhere([&] { return shared_mutex{one, name}.try_lock_shared(); }));
  mine.unlock();
  EXPECT_TRUE(theirs.try_lock_shared_for(long_time));
}

TEST_P(shared_mutexes, keep_later_readers_out_while_a_writer_waits) {
  if (without_line()) return;
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  const client three = connect();
  hold reader = mine.acquire_shared();
  auto writer = start([&] { return theirs.try_acquire_for(long_time); });
  EXPECT_TRUE(has_waited(two));
  EXPECT_FALSE(shared_mutex(three, name).try_lock_shared());
  EXPECT_FALSE(shared_mutex(three, name).try_lock_shared_for(20ms));
  reader.release();
  EXPECT_TRUE(writer.get());
}

TEST_P(shared_mutexes, let_readers_in_again_when_the_waiting_writer_gives_up) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  const client three = connect();
  const hold reader = mine.acquire_shared();
  EXPECT_FALSE(theirs.try_lock_for(20ms));
  EXPECT_TRUE(shared_mutex(three, name).try_lock_shared_for(slowness * 2s));
}

TEST_P(shared_mutexes, let_waiting_readers_in_when_the_writer_leaves) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  hold writer = mine.acquire();
  std::atomic<int> inside{0};
  auto readers = start([&] {
    in_parallel(3, [&](int) {
      const hold got = theirs.acquire_shared();
      ++inside;
      EXPECT_TRUE(eventually([&] { return inside == 3; }));
    });
  });
  EXPECT_TRUE(has_waited(two));
  writer.release();
  readers.get();
  EXPECT_EQ(inside, 3);
}

TEST_P(shared_mutexes, give_readers_tokens_no_smaller_than_the_last_writers) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  hold writer = mine.acquire();
  const auto written = writer.token();
  writer.release();
  const hold first = mine.acquire_shared();
  const hold second = theirs.acquire_shared();
  EXPECT_GE(first.token(), written);
  EXPECT_GE(second.token(), written);
}

TEST_P(shared_mutexes, give_a_writer_a_larger_token_than_all_readers_before) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  hold first = mine.acquire_shared();
  hold second = theirs.acquire_shared();
  const auto read = std::max(first.token(), second.token());
  first.release();
  second.release();
  EXPECT_GT(mine.acquire().token(), read);
}

TEST_P(shared_mutexes, renew_every_reader) {
  shared_mutex theirs{two, name};
  const client c = connect({.lease = renewed_lease});
  shared_mutex m{c, name};
  const hold first = m.acquire_shared();
  const hold second = m.acquire_shared();
  EXPECT_FALSE(theirs.try_lock_for(renewed_lease * 3 / 2));
  EXPECT_TRUE(first.valid());
  EXPECT_TRUE(second.valid());
}

TEST_P(shared_mutexes, lose_one_reader_without_the_others) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  const hold brief = mine.acquire_shared({.lease = 50ms, .renew = renewal::off});
  const hold other = theirs.acquire_shared();
  EXPECT_TRUE(eventually([&] { return !brief.valid(); }));
  EXPECT_TRUE(other.valid());
  EXPECT_FALSE(mine.try_lock());
}

TEST_P(shared_mutexes, work_with_the_guards_of_std) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  {
    const std::shared_lock reader{mine};
    EXPECT_FALSE(theirs.try_lock());
    // Long enough for one step; what the refused try left behind would last for longer.
    const std::shared_lock other{theirs, slowness * 2s};
    EXPECT_TRUE(other.owns_lock());
  }
  const std::unique_lock writer{mine, long_time};
  EXPECT_TRUE(writer.owns_lock());
  const std::shared_lock refused{theirs, std::chrono::system_clock::now() + 10ms};
  EXPECT_FALSE(refused.owns_lock());
}

TEST_P(shared_mutexes, count_an_unlock_shared_with_nothing_locked_as_misuse) {
  shared_mutex mine{one, name};
  mine.unlock_shared();
  std::error_code ec;
  mine.unlock_shared(ec);
  EXPECT_EQ(ec, errc::not_owner);
  EXPECT_EQ(one.stats().misused, 2U);
}

TEST_P(shared_mutexes, give_up_a_shared_wait_by_a_stop) {
  shared_mutex mine{one, name};
  shared_mutex theirs{two, name};
  mine.lock();
  std::stop_source stop;
  auto reader = start([&] {
    std::error_code ec;
    const hold none = theirs.acquire_shared({.stop = stop.get_token()}, ec);
    return ec;
  });
  EXPECT_TRUE(has_waited(two));
  stop.request_stop();
  EXPECT_EQ(reader.get(), errc::cancelled);
}

TEST_P(shared_mutexes, never_mix_readers_and_writers_under_contention) {
  std::atomic<int> readers{0};
  std::atomic<int> writers{0};
  std::atomic<int> mixed{0};
  in_parallel(6, [&](int i) {
    shared_mutex m{i % 2 ? one : two, name};
    for (int round = 0; round < 25; ++round) {
      if ((round + i) % 4 == 0) {
        const std::lock_guard guard{m};
        if (++writers > 1 || readers > 0) ++mixed;
        --writers;
      } else {
        const std::shared_lock guard{m};
        ++readers;
        if (writers > 0) ++mixed;
        --readers;
      }
    }
  });
  EXPECT_EQ(mixed, 0);
}

AFAR_FOR_EVERY_ENGINE(shared_mutexes);

}  // namespace
}  // namespace afar::test
