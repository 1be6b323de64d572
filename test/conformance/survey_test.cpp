// Looking at what is in use, and breaking a hold.
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/renewed_lease.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <afar/afar.hpp>

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>

namespace afar::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class surveys : public engine_test {
 protected:
  void SetUp() override { need<mutex>("mutex"); }

  std::vector<std::string> names_below(const std::string& beginning) const {
    std::vector<std::string> out;
    for (const auto& e : survey(two, beginning)) out.push_back(e.name);
    return out;
  }
};

TEST_P(surveys, show_nothing_of_a_name_that_nobody_uses) {
  EXPECT_FALSE(inspect(one, name));
  EXPECT_THAT(survey(one, name), IsEmpty());
  mutex{one, name}.acquire().release();
  EXPECT_FALSE(inspect(two, name));
}

TEST_P(surveys, show_who_holds_and_who_waits) {
  if (without_line()) return;
  const client me = connect({.lease = 20s, .label = "night shift"});
  hold mine = mutex(me, name).acquire();
  auto other = start([&] { return mutex(two, name).acquire(); });
  ASSERT_TRUE(has_waited(two));

  const auto seen = inspect(one, name);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->name, name);
  EXPECT_EQ(seen->kind, usage::mutex);
  EXPECT_EQ(word(seen->kind), "mutex");
  ASSERT_THAT(seen->holders, SizeIs(1));
  ASSERT_THAT(seen->waiters, SizeIs(1));
  const claimant& holder = seen->holders.front();
  EXPECT_EQ(holder.token, mine.token());
  EXPECT_GE(seen->last_token, holder.token);
  EXPECT_LE(holder.lease_left, 20s);
  EXPECT_GT(holder.lease_left, 1s);
  EXPECT_EQ(holder.pid, ::getpid());
  EXPECT_EQ(holder.label, "night shift");
  EXPECT_FALSE(holder.host.empty());
  EXPECT_FALSE(holder.user.empty());
  EXPECT_FALSE(holder.command.empty());
  EXPECT_EQ(seen->waiters.front().token, 0U);
  EXPECT_NE(seen->waiters.front().owner, holder.owner);
  mine.release();
  EXPECT_TRUE(other.get());
}

// What an engine cannot tell it leaves empty.
TEST_P(surveys, show_renewals_where_the_engine_counts_them) {
  const client me = connect({.lease = slowness * 1s});
  const hold mine = mutex(me, name).acquire();
  const auto fresh = inspect(two, name);
  ASSERT_TRUE(fresh);
  if (!fresh->holders.front().renewals) return;
  EXPECT_EQ(fresh->holders.front().lease, slowness * 1s);
  ASSERT_TRUE(eventually([&] { return inspect(two, name)->holders.front().renewals > 1U; }));
  const claimant seen = inspect(two, name)->holders.front();
  ASSERT_TRUE(seen.renewed);
  EXPECT_LE(*seen.renewed, seen.since);
  EXPECT_EQ(seen.lease, slowness * 1s);
}

TEST_P(surveys, show_who_had_it_before_where_the_engine_remembers) {
  mutex lock{one, name};
  hold first = lock.acquire();
  const auto released = first.token();
  first.release();
  hold second = lock.acquire();
  const auto broken = second.token();
  EXPECT_TRUE(evict(two, name, broken));
  const hold third = mutex(two, name).acquire();
  const auto seen = inspect(two, name);
  ASSERT_TRUE(seen);
  if (seen->history.empty()) return;
  ASSERT_THAT(seen->history, SizeIs(2));
  EXPECT_EQ(seen->history[0].token, broken);
  EXPECT_EQ(seen->history[0].why, loss_reason::evicted);
  EXPECT_EQ(seen->history[0].pid, ::getpid());
  EXPECT_EQ(seen->history[1].token, released);
  EXPECT_EQ(seen->history[1].why, loss_reason::none);
  EXPECT_GE(seen->history[1].ago, seen->history[0].ago);
}

TEST_P(surveys, say_where_tokens_come_from_or_nothing) {
  if (lacks<counter>("counter")) return;
  const hold mine = mutex(one, name).acquire();
  counter{one, name + "/counter"}.store(7);
  EXPECT_EQ(inspect(two, name)->token_source.empty(), inspect(two, name)->format.empty());
  EXPECT_EQ(inspect(two, name + "/counter")->token_source, "") << "it has none";
}

TEST_P(surveys, show_readers_and_permits) {
  shared_mutex book{one, name + "/book"};
  const hold reader = book.acquire_shared();
  const hold another = book.acquire_shared();
  leased_semaphore seats{one, name + "/seats", 5};
  const hold taken = seats.acquire(3);

  const auto of_book = inspect(two, book.name());
  ASSERT_TRUE(of_book);
  ASSERT_THAT(of_book->holders, SizeIs(2));
  EXPECT_TRUE(of_book->holders.front().shared);
  const auto of_seats = inspect(two, seats.name());
  ASSERT_TRUE(of_seats);
  EXPECT_EQ(of_seats->kind, usage::leased_semaphore);
  EXPECT_EQ(of_seats->limit, 5U);
  ASSERT_THAT(of_seats->holders, SizeIs(1));
  EXPECT_EQ(of_seats->holders.front().permits, 3U);
}

TEST_P(surveys, show_values) {
  if (lacks<counter>("counter")) return;
  counter{one, name + "/counter"}.store(7);
  latch{one, name + "/latch", 3}.count_down();
  stock{one, name + "/stock"}.set(9);
  EXPECT_EQ(inspect(two, name + "/counter")->value, 7);
  EXPECT_EQ(inspect(two, name + "/latch")->value, 2);
  EXPECT_EQ(inspect(two, name + "/stock")->value, 9);
  EXPECT_EQ(inspect(two, name + "/stock")->kind, usage::stock);
}

TEST_P(surveys, list_by_the_beginning_of_the_name_in_order) {
  if (lacks<counter>("counter")) return;
  const hold b = mutex(one, name + "/b").acquire();
  const hold a = mutex(one, name + "/a").acquire();
  counter{one, name + "/c"}.store(1);
  const hold elsewhere = mutex(one, fresh_name("other")).acquire();
  EXPECT_THAT(names_below(name + "/"), ElementsAre(name + "/a", name + "/b", name + "/c"));
  EXPECT_THAT(names_below(name + "/b"), ElementsAre(name + "/b"));
}

TEST_P(surveys, list_more_than_one_page) {
  if (lacks<counter>("counter")) return;
  constexpr std::size_t many = 1'100;  // a page has 1,000
  for (std::size_t i = 0; i < many; ++i) counter{one, name + "/" + std::to_string(i)}.store(1);
  const auto found = names_below(name + "/");
  EXPECT_EQ(found.size(), many);
  EXPECT_TRUE(std::ranges::is_sorted(found));
  EXPECT_EQ(std::ranges::adjacent_find(found), found.end());
  for (std::size_t i = 0; i < many; ++i) counter{one, name + "/" + std::to_string(i)}.erase();
}

TEST_P(surveys, see_the_clients_prefix_only) {
  const client app = connect({}, "prefix=" + name + "/");
  const hold mine = mutex(app, "x").acquire();
  const hold other = mutex(one, fresh_name()).acquire();
  const auto found = survey(app);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found.front().name, "x");
  EXPECT_TRUE(inspect(app, "x"));
  EXPECT_TRUE(inspect(one, name + "/x"));
}

TEST_P(surveys, refuse_a_bad_name_and_a_closed_client) {
  EXPECT_EQ(thrown_by([&] { inspect(one, ""); }), errc::bad_argument);
  std::error_code ec;
  EXPECT_FALSE(inspect(one, std::string(2'000, 'x'), ec));
  EXPECT_EQ(ec, errc::bad_argument);
  two.close();
  EXPECT_EQ(thrown_by([&] { survey(two); }), errc::closed);
  EXPECT_EQ(thrown_by([&] { evict(two, name, 1); }), errc::closed);
  EXPECT_FALSE(inspect(two, name, ec));
  EXPECT_EQ(ec, errc::closed);
}

AFAR_FOR_EVERY_ENGINE(surveys);

class evictions : public surveys {};

TEST_P(evictions, break_the_hold_and_tell_the_victim) {
  const client victim = connect({.lease = renewed_lease});
  const hold mine = mutex(victim, name).acquire();
  EXPECT_TRUE(evict(one, name, mine.token()));
  EXPECT_TRUE(eventually([&] { return mine.lost().stop_requested(); }));
  EXPECT_EQ(mine.why(), loss_reason::evicted);
  EXPECT_FALSE(mine);
}

TEST_P(evictions, let_the_next_one_in_with_a_larger_token) {
  const hold mine = mutex(one, name).acquire();
  auto next = start([&] { return mutex(two, name).acquire(); });
  ASSERT_TRUE(has_waited(two));
  EXPECT_TRUE(evict(connect(), name, mine.token()));
  const hold theirs = next.get();
  EXPECT_GT(theirs.token(), mine.token());
}

TEST_P(evictions, compare_the_token) {
  const hold mine = mutex(one, name).acquire();
  EXPECT_FALSE(evict(two, name, mine.token() + 1));
  EXPECT_FALSE(evict(two, name, 0));
  EXPECT_FALSE(evict(two, fresh_name(), mine.token()));
  EXPECT_EQ(inspect(two, name)->holders.front().token, mine.token());
  EXPECT_TRUE(mine);
}

TEST_P(evictions, happen_once) {
  const hold mine = mutex(one, name).acquire();
  std::error_code ec;
  EXPECT_TRUE(evict(two, name, mine.token(), ec));
  EXPECT_FALSE(evict(two, name, mine.token(), ec));
  EXPECT_FALSE(ec);
}

TEST_P(evictions, take_one_of_several_holders) {
  leased_semaphore seats{one, name, 2};
  const hold first = seats.acquire();
  const hold second = seats.acquire();
  EXPECT_TRUE(evict(two, name, first.token()));
  const auto left = inspect(two, name);
  ASSERT_TRUE(left);
  ASSERT_THAT(left->holders, SizeIs(1));
  EXPECT_EQ(left->holders.front().token, second.token());
}

TEST_P(evictions, leave_the_victims_release_without_effect) {
  hold mine = mutex(one, name).acquire();
  EXPECT_TRUE(evict(two, name, mine.token()));
  const hold theirs = mutex(two, name).try_acquire();
  ASSERT_TRUE(theirs);
  std::error_code ec;
  mine.release(ec);
  EXPECT_EQ(ec, errc::lost);
  EXPECT_EQ(inspect(two, name)->holders.front().token, theirs.token());
}

AFAR_FOR_EVERY_ENGINE(evictions);

}  // namespace
}  // namespace afar::test
