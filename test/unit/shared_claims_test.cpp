// Readers and writers: the shared_mutex part of records/claims.
#include "engines/records/claims.hpp"

#include "unit/claims_fixture.hpp"

namespace afar::test {
namespace {

class shared_claims : public claims_fixture {
 protected:
  shared_claims() : claims_fixture(kind::shared_mutex) {}

  bool read(std::uint64_t n) { return granted(n, access::shared); }
  bool write(std::uint64_t n) { return granted(n, access::exclusive); }
  spi::acquire_reply convert(std::uint64_t n, access to, std::uint64_t token) {
    spi::claim a = claim(n, to);
    a.token = token;
    return acquire(a);
  }
};

TEST_F(shared_claims, let_many_read_and_one_write) {
  EXPECT_TRUE(read(1));
  EXPECT_TRUE(read(2));
  EXPECT_FALSE(write(3));
  release(1);
  EXPECT_TRUE(called_nobody());
  release(2);
  EXPECT_EQ(called(), numbers{3});
  EXPECT_TRUE(write(3));
  EXPECT_FALSE(read(4));
}

TEST_F(shared_claims, give_every_reader_a_token_of_its_own) {
  const auto a = acquire(1, access::shared).token;
  const auto b = acquire(2, access::shared).token;
  EXPECT_LT(a, b);
}

TEST_F(shared_claims, keep_later_readers_out_when_a_writer_waits) {
  EXPECT_TRUE(read(1));
  EXPECT_FALSE(write(2));
  EXPECT_FALSE(read(3));
  EXPECT_FALSE(tried(4, access::shared));
}

TEST_F(shared_claims, call_all_leading_readers_when_the_writer_releases) {
  write(1);
  read(2);
  read(3);
  write(4);
  read(5);
  release(1);
  EXPECT_EQ(called(), (numbers{2, 3}));
  EXPECT_TRUE(read(3)) << "in any order";
  EXPECT_TRUE(read(2));
  EXPECT_FALSE(read(5));
}

TEST_F(shared_claims, let_a_new_reader_in_beside_readers_that_were_called) {
  write(1);
  read(2);
  release(1);
  EXPECT_TRUE(read(3));
  EXPECT_TRUE(read(2));
}

TEST_F(shared_claims, take_back_every_call_when_a_writer_passes_readers_that_do_not_come) {
  write(1);
  for (const auto reader : numbers{2, 3, 4}) read(reader);
  release(1);
  EXPECT_EQ(called(), (numbers{2, 3, 4}));
  pass(m.patience + 1ms);
  EXPECT_TRUE(write(5));
  EXPECT_TRUE(called_nobody());
  sweep();
  EXPECT_FALSE(e.changed) << "nothing is left to take back";
  release(5);
  EXPECT_EQ(called(), (numbers{2, 3, 4})) << "again";
}

TEST_F(shared_claims, call_the_readers_when_the_writer_in_line_leaves) {
  read(1);
  write(2);
  read(3);
  release(2);
  EXPECT_EQ(called(), numbers{3});
}

TEST_F(shared_claims, are_upgraded_for_the_sole_reader_with_a_new_token) {
  const auto token = acquire(1, access::shared).token;
  const auto reply = convert(1, access::exclusive, token);
  EXPECT_TRUE(reply.granted);
  EXPECT_GT(reply.token, token);
  EXPECT_FALSE(read(2));
  const auto again = convert(1, access::exclusive, token);
  EXPECT_TRUE(again.granted) << "the first answer was lost";
  EXPECT_EQ(again.token, reply.token);
}

TEST_F(shared_claims, are_not_upgraded_beside_another_reader) {
  const auto token = acquire(1, access::shared).token;
  read(2);
  const auto reply = convert(1, access::exclusive, token);
  EXPECT_FALSE(reply.granted);
  EXPECT_EQ(reply.why, loss::none);
  EXPECT_TRUE(record.line.empty());
  EXPECT_EQ(record.holders.size(), 2U) << "it still reads";
}

TEST_F(shared_claims, are_downgraded_with_the_same_token_and_call_the_readers) {
  const auto token = acquire(1).token;
  read(2);
  read(3);
  const auto reply = convert(1, access::shared, token);
  EXPECT_TRUE(reply.granted);
  EXPECT_EQ(reply.token, token);
  EXPECT_EQ(called(), (numbers{2, 3}));
  EXPECT_TRUE(read(2));
}

TEST_F(shared_claims, keep_the_token_of_a_hand_off_when_downgraded) {
  spi::claim a = claim(1);
  a.handoffs = 8;
  const auto token = acquire(a).token;
  EXPECT_EQ(convert(1, access::shared, token + 3).token, token + 3);
}

TEST_F(shared_claims, call_a_reader_again_that_an_upgrade_shut_out) {
  const auto token = acquire(1, access::shared).token;
  write(2);
  read(3);
  release(2);
  EXPECT_EQ(called(), numbers{3});
  convert(1, access::exclusive, token);
  EXPECT_FALSE(read(3));
  release(1);
  EXPECT_EQ(called(), numbers{3});
}

}  // namespace
}  // namespace afar::test
