// The rules by which permits of a limit are granted.
#include "engines/records/claims.hpp"

#include "unit/claims_fixture.hpp"

namespace afar::test {
namespace {

class permit_claims : public claims_fixture {
 protected:
  permit_claims() : claims_fixture(kind::permits, 3) {}

  spi::claim of(std::uint64_t n, std::uint32_t permits) const {
    spi::claim a = claim(n);
    a.permits = permits;
    return a;
  }
  bool got(std::uint64_t n, std::uint32_t permits) { return acquire(of(n, permits)).granted; }
};

TEST_F(permit_claims, are_granted_up_to_the_limit) {
  EXPECT_TRUE(got(1, 2));
  EXPECT_TRUE(got(2, 1));
  EXPECT_FALSE(got(3, 1));
}

TEST_F(permit_claims, are_not_overtaken_by_smaller_ones) {
  EXPECT_TRUE(got(1, 2));
  EXPECT_FALSE(got(2, 2));
  EXPECT_FALSE(got(3, 1)) << "one permit is free, but 2 came first";
  release(1);
  EXPECT_EQ(called(), (numbers{2, 3})) << "both fit now";
  EXPECT_TRUE(got(3, 1));
  EXPECT_TRUE(got(2, 2));
}

TEST_F(permit_claims, call_only_as_many_as_fit) {
  got(1, 3);
  got(2, 2);
  got(3, 2);
  got(4, 1);
  release(1);
  EXPECT_EQ(called(), numbers{2});
  EXPECT_FALSE(got(4, 1)) << "3 stands before it";
}

TEST_F(permit_claims, that_can_never_be_granted_are_an_error) {
  got(1, 4);
  EXPECT_EQ(failed.code, errc::bad_argument);
  got(1, 0);
  EXPECT_EQ(failed.code, errc::bad_argument);
  EXPECT_TRUE(record.idle());
}

TEST_F(permit_claims, refuse_another_limit_while_in_use) {
  granted(1);
  spi::claim other = claim(2);
  other.limit = 5;
  acquire(other);
  EXPECT_EQ(failed.code, errc::wrong_use);
  EXPECT_EQ(failed.detail.str(), "is a leased_semaphore with limit 3, not one with limit 5");
  other.what.kind = kind::mutex;
  acquire(other);
  EXPECT_EQ(failed.detail.str(), "is a leased_semaphore with limit 3, not a mutex");
}

}  // namespace
}  // namespace afar::test
