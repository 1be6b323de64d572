// The check of a token inside a script of the user's, beside the fence of the library.
#include "support/redis_server.hpp"

#include <afar/afar.hpp>
#include <afar/redis.hpp>

#include <gtest/gtest.h>

#include <string>

namespace afar::test {
namespace {

class redis_fence : public ::testing::Test {
 protected:
  std::string write(const std::string& token, const std::string& value) const {
    return server.ask({"EVAL",
                       std::string{afar::redis::fence_lua} +
                           "if not afar_admit(KEYS[1], ARGV[1]) then return 0 end "
                           "redis.call('SET', KEYS[2], ARGV[2]) return 1",
                       "2", "fence", "data", token, value});
  }
  std::string data() const { return server.ask({"GET", "data"}); }

  redis_server server;
};

TEST_F(redis_fence, checks_and_writes_in_one_step) {
  const client c{server.url()};
  hold stalled = mutex{c, "order"}.acquire();
  const auto old = std::to_string(stalled.token());
  EXPECT_EQ(write(old, "first"), ":1\r\n");
  stalled.release();
  const hold next = mutex{c, "order"}.acquire();
  EXPECT_EQ(write(std::to_string(next.token()), "second"), ":1\r\n");
  EXPECT_EQ(write(std::to_string(next.token()), "third"), ":1\r\n");
  EXPECT_EQ(write(old, "late"), ":0\r\n");
  EXPECT_EQ(data(), "$5\r\nthird\r\n");
}

TEST_F(redis_fence, shares_its_key_with_the_library) {
  const client c{server.url()};
  fence f = fence::in_counter(c, "fence");
  EXPECT_EQ(write("7", "x"), ":1\r\n");
  EXPECT_EQ(f.largest(), 7U);
  EXPECT_FALSE(f.admit(6));
  EXPECT_TRUE(f.admit(10));
  EXPECT_EQ(write("9", "late"), ":0\r\n") << "by number, not by letter";
}

TEST_F(redis_fence, compares_all_digits) {
  EXPECT_EQ(write("9007199254740993", "x"), ":1\r\n");
  EXPECT_EQ(write("9007199254740992", "late"), ":0\r\n") << "the same as a double";
  for (const char* bad : {"0", "", "-1", "x", "01", "1e30"})
    EXPECT_EQ(write(bad, "bad"), ":0\r\n") << bad;
  EXPECT_EQ(data(), "$1\r\nx\r\n");
}

}  // namespace
}  // namespace afar::test
