// The protocol, with answers whole, in pieces and hostile.
#include "engines/redis/resp.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace afar::engines::redis {
namespace {

using namespace std::string_literals;
using type = reply::type;

reply decoded(std::string_view bytes) {
  decoder d;
  EXPECT_TRUE(d.feed(bytes));
  reply r;
  EXPECT_TRUE(d.next(r)) << d.why();
  return r;
}

// Fed until it is refused, or as a whole.
bool refused(const std::string& bytes) {
  decoder d;
  reply r;
  if (!d.feed(bytes)) return true;
  while (d.next(r)) continue;
  return d.broken() && !d.why().empty();
}

TEST(redis_resp, writes_a_command_as_counted_words) {
  std::string out;
  append(out, {"SET", "a\r\nb", ""});
  EXPECT_EQ(out, "*3\r\n$3\r\nSET\r\n$4\r\na\r\nb\r\n$0\r\n\r\n");
  out.clear();
  command::word(out, std::int64_t{-12});
  EXPECT_EQ(out, "$3\r\n-12\r\n");
}

TEST(redis_resp, reads_every_type) {
  EXPECT_EQ(decoded("+OK\r\n").text, "OK");
  EXPECT_TRUE(decoded("-NOSCRIPT x\r\n").failed());
  EXPECT_EQ(decoded(":-9223372036854775808\r\n").integer(), INT64_MIN);
  EXPECT_EQ(decoded("$3\r\na\0b\r\n"s).text, "a\0b"s);
  EXPECT_TRUE(decoded("$-1\r\n").is(type::nil));
  const reply list = decoded("*3\r\n:1\r\n*1\r\n$1\r\nx\r\n$-1\r\n");
  ASSERT_TRUE(list.is(type::array));
  EXPECT_EQ(list.at(0).integer(), 1);
  EXPECT_EQ(list.at(1).at(0).text, "x");
  EXPECT_TRUE(list.at(2).is(type::nil));
  EXPECT_TRUE(list.at(3).is(type::nil)) << "what is not there is a nil";
}

TEST(redis_resp, takes_a_text_for_a_number_only_as_a_whole) {
  EXPECT_EQ(decoded("$2\r\n42\r\n").integer(), 42);
  EXPECT_FALSE(decoded("$3\r\n42x\r\n").integer());
  EXPECT_FALSE(decoded("$0\r\n\r\n").integer());
  EXPECT_FALSE(decoded("$20\r\n99999999999999999999\r\n").integer());
}

TEST(redis_resp, reads_answers_that_come_in_pieces) {
  const std::string bytes = "*2\r\n$5\r\nhello\r\n:7\r\n+next\r\n";
  decoder d;
  std::vector<reply> all;
  for (const char c : bytes) {
    ASSERT_TRUE(d.feed({&c, 1}));
    for (reply r; d.next(r);) all.push_back(std::move(r));
  }
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].at(0).text, "hello");
  EXPECT_EQ(all[1].text, "next");
}

TEST(redis_resp, refuses_what_is_not_the_protocol) {
  EXPECT_TRUE(refused("HTTP/1.1 400 Bad Request\r\n\r\n"));
  EXPECT_TRUE(refused(":12x4\r\n"));
  EXPECT_TRUE(refused("$-7\r\n"));
}

TEST(redis_resp, refuses_depth) {
  std::string deep;
  for (int i = 0; i < 1'000; ++i) deep += "*1\r\n";
  EXPECT_TRUE(refused(deep));
}

TEST(redis_resp, refuses_an_array_that_is_only_announced) {
  EXPECT_TRUE(refused("*2147483647\r\n"));
  EXPECT_TRUE(refused("*65537\r\n"));
  EXPECT_FALSE(refused("*65536\r\n"));
}

TEST(redis_resp, counts_what_is_announced_at_all_levels_together) {
  std::string wide = "*100\r\n";
  for (int i = 0; i < 100; ++i) wide += "*1000\r\n";
  EXPECT_TRUE(refused(wide));
  std::string many;
  for (int i = 0; i < 100; ++i) many += "*2\r\n:1\r\n:2\r\n";
  EXPECT_FALSE(refused(many)) << "every reply is counted anew";
}

TEST(redis_resp, refuses_a_text_without_end) {
  decoder d;
  ASSERT_TRUE(d.feed("$9000000000\r\n"));
  const std::string piece(std::size_t{16} << 20, 'x');
  reply r;
  int fed = 0;
  while (d.feed(piece) && fed < 10) {
    ++fed;
    EXPECT_FALSE(d.next(r));
  }
  EXPECT_LT(fed, 5);
  EXPECT_TRUE(d.broken());
}

TEST(redis_resp, frees_a_half_read_answer) {
  decoder d;
  ASSERT_TRUE(d.feed("*2\r\n*1\r\n$3\r\nabc\r\n"));
  reply r;
  EXPECT_FALSE(d.next(r));
}

}  // namespace
}  // namespace afar::engines::redis
