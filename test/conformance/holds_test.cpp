// Holds as values: moved, released, emptied, and tied to their client.
#include "support/any_lock.hpp"
#include "support/errors.hpp"
#include "support/renewed_lease.hpp"

#include <optional>
#include <utility>

namespace afar::test {
namespace {

class holds : public any_lock_test {
 protected:
  bool busy() const { return !source_of(two)->try_acquire(); }
  bool free_soon() const { return source_of(two)->try_acquire_for(long_time).valid(); }
};

TEST_P(holds, know_their_name) {
  const hold mine = source_of(one)->acquire();
  EXPECT_EQ(mine.name(), name);
}

TEST_P(holds, release_when_they_go_out_of_scope) {
  {
    const hold mine = source_of(one)->acquire();
    EXPECT_TRUE(busy());
  }
  EXPECT_TRUE(free_soon());
}

TEST_P(holds, are_empty_after_release) {
  hold mine = source_of(one)->acquire();
  mine.release();
  EXPECT_FALSE(mine.valid());
  EXPECT_EQ(mine.token(), 0U);
  EXPECT_EQ(mine.why(), loss_reason::none);
}

TEST_P(holds, are_free_for_another_when_release_returns) {
  hold mine = source_of(one)->acquire();
  mine.release();
  EXPECT_FALSE(busy());
}

TEST_P(holds, cannot_be_released_twice) {
  hold mine = source_of(one)->acquire();
  mine.release();
  std::error_code ec;
  mine.release(ec);
  EXPECT_EQ(ec, errc::not_owner);
}

TEST_P(holds, are_not_lost_by_release) {
  hold mine = source_of(one)->acquire();
  const auto lost = mine.lost();
  mine.release();
  EXPECT_FALSE(lost.stop_requested());
  EXPECT_EQ(one.stats().lost, 0U);
}

TEST_P(holds, can_be_moved) {
  hold first = source_of(one)->acquire();
  const auto token = first.token();
  hold second = std::move(first);
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): a moved-from hold is empty
  EXPECT_EQ(first.token(), 0U);
  EXPECT_TRUE(second.valid());
  EXPECT_EQ(second.token(), token);
  EXPECT_TRUE(busy());
}

TEST_P(holds, are_released_when_another_is_moved_over_them) {
  hold mine = source_of(one)->acquire();
  mine = hold{};
  EXPECT_TRUE(free_soon());
}

TEST_P(holds, keep_what_they_hold_when_moved_to_themselves) {
  hold mine = source_of(one)->acquire();
  hold& same = mine;
  mine = std::move(same);
  EXPECT_TRUE(mine.valid());
  EXPECT_TRUE(busy());
}

TEST_P(holds, outlive_their_primitive_and_keep_the_client_open) {
  hold mine;
  {
    const client c = connect({.lease = renewed_lease});
    mine = source_of(c)->acquire();
  }
  hold_still(renewed_lease * 3 / 2);
  EXPECT_TRUE(mine.valid());
  EXPECT_TRUE(busy());
  mine.release();
  EXPECT_FALSE(busy());
}

TEST_P(holds, are_refused_as_empty_when_busy_without_an_error) {
  const hold mine = source_of(one)->acquire();
  EXPECT_NO_THROW(EXPECT_FALSE(source_of(two)->try_acquire()));
  EXPECT_NO_THROW(EXPECT_FALSE(source_of(two)->try_acquire_for(10ms)));
}

AFAR_FOR_EVERY_ENGINE_AND(holds, locks_with_holds);

TEST(empty_hold, holds_nothing) {
  const hold none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.token(), 0U);
  EXPECT_EQ(none.why(), loss_reason::none);
  EXPECT_FALSE(none.lost().stop_requested());
  EXPECT_EQ(none.name(), "");
}

TEST(empty_hold, cannot_be_released) {
  hold none;
  std::error_code ec;
  none.release(ec);
  EXPECT_EQ(ec, errc::not_owner);
  EXPECT_EQ(thrown_by([&] { none.release(); }), errc::not_owner);
}

}  // namespace
}  // namespace afar::test
