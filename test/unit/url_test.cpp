#include "core/url.hpp"

#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace afar::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(url, without_hosts_has_a_path_only) {
  const auto u = parse_url("memory:orders");
  EXPECT_EQ(u.scheme, "memory");
  EXPECT_EQ(u.path, "orders");
  EXPECT_TRUE(u.hosts.empty());
  EXPECT_EQ(u.printable, "memory:orders");
  EXPECT_EQ(parse_url("local:").path, "");
}

TEST(url, of_a_file_keeps_the_leading_slash) {
  const auto u = parse_url("file:///var/lib/afar?durable=1");
  EXPECT_EQ(u.path, "/var/lib/afar");
  EXPECT_TRUE(u.hosts.empty());
  EXPECT_EQ(u.options.at("durable"), "1");
}

TEST(url, has_a_scheme_in_lower_case_with_its_wrappers) {
  EXPECT_EQ(parse_url("Faulty+MEMORY:x").scheme, "faulty+memory");
}

TEST(url, names_user_password_hosts_path_and_options) {
  const auto u = parse_url("redis://app:geheim@a.example:6380,b.example/3?lease=5s&prefix=x/");
  EXPECT_EQ(u.user, "app");
  EXPECT_EQ(u.password.reveal(), "geheim");
  ASSERT_EQ(u.hosts.size(), 2U);
  EXPECT_EQ(u.hosts[0].name, "a.example");
  EXPECT_EQ(u.hosts[0].port, 6380);
  EXPECT_EQ(u.hosts[1].name, "b.example");
  EXPECT_EQ(u.hosts[1].port, 0);
  EXPECT_EQ(u.path, "/3");
  EXPECT_EQ(u.options.at("lease"), "5s");
  EXPECT_EQ(u.options.at("prefix"), "x/");
  EXPECT_EQ(u.printable, "redis://app:***@a.example:6380,b.example/3?lease=5s&prefix=x/");
}

TEST(url, takes_ipv6_addresses_in_brackets) {
  const auto u = parse_url("redis://[::1]:6379,[fe80::1%eth0],10.0.0.5:1");
  ASSERT_EQ(u.hosts.size(), 3U);
  EXPECT_EQ(u.hosts[0].name, "::1");
  EXPECT_EQ(u.hosts[0].port, 6379);
  EXPECT_EQ(u.hosts[1].name, "fe80::1%eth0");
  EXPECT_EQ(u.hosts[1].port, 0);
  EXPECT_EQ(u.hosts[2].name, "10.0.0.5");
  EXPECT_EQ(u.hosts[2].port, 1);
  EXPECT_EQ(u.printable, "redis://[::1]:6379,[fe80::1%eth0],10.0.0.5:1");
}

TEST(url, decodes_percent_escapes_in_every_part) {
  const auto u = parse_url("redis://a%40b:p%3a%2F%40%25@h/d%C3%bc%20x?k%3D=v%26+1");
  EXPECT_EQ(u.user, "a@b");
  EXPECT_EQ(u.password.reveal(), "p:/@%");
  EXPECT_EQ(u.path, "/d\xc3\xbc x");
  EXPECT_EQ(u.options.at("k="), "v&+1");  // '+' is a plus, not a blank
}

TEST(url, may_have_a_password_without_a_user_and_a_user_without_a_password) {
  EXPECT_EQ(parse_url("redis://:pw@h").password.reveal(), "pw");
  EXPECT_EQ(parse_url("redis://:pw@h").printable, "redis://:***@h");
  EXPECT_EQ(parse_url("redis://me@h").user, "me");
  EXPECT_TRUE(parse_url("redis://me@h").password.empty());
  EXPECT_EQ(parse_url("redis://me@h").printable, "redis://me@h");
}

TEST(url, takes_options_without_a_value) {
  EXPECT_EQ(parse_url("memory:?flag&b=").options.at("flag"), "");
  EXPECT_EQ(parse_url("memory:?flag&b=").options.at("b"), "");
}

TEST(url, hides_options_that_are_secrets_when_printed) {
  const auto u = parse_url("redis://h?tls_password=canary&x=1");
  EXPECT_EQ(u.options.at("tls_password"), "canary");
  EXPECT_EQ(u.printable, "redis://h?tls_password=***&x=1");
}

struct bad {
  std::string text;
  std::string says;
};
void PrintTo(const bad& b, std::ostream* out) { *out << b.text; }
class bad_url : public ::testing::TestWithParam<bad> {};

TEST_P(bad_url, is_refused_with_the_reason_and_without_the_password) {
  const auto f = test::failure_of([] { parse_url(GetParam().text); });
  EXPECT_EQ(f.code, errc::bad_url);
  EXPECT_THAT(f.message, HasSubstr(GetParam().says));
  EXPECT_THAT(f.message, Not(HasSubstr("canary")));
  EXPECT_THAT(f.resource, Not(HasSubstr("canary")));
}

INSTANTIATE_TEST_SUITE_P(
    , bad_url,
    ::testing::Values(
        bad{"", "scheme"}, bad{"orders", "scheme"}, bad{"://h", "scheme"},
        bad{"1redis://h", "scheme"}, bad{"re dis://u:canary@h", "scheme"},
        bad{":canary@host", "scheme"}, bad{"redis://u:canary@", "host is missing"},
        bad{"redis://u:canary@,b", "host is missing"},
        bad{"redis://u:canary@a,", "host is missing"},
        bad{"redis://u:canary@a,,b", "host is missing"},
        bad{"redis://u:canary@:6379", "host is missing"}, bad{"redis://u:canary@h:0", "port"},
        bad{"redis://u:canary@h:65536", "port"}, bad{"redis://u:canary@h:", "port"},
        bad{"redis://u:canary@h:+1", "port"}, bad{"redis://u:canary@h:63x", "port"},
        bad{"redis://u:canary@::1", "host is missing"}, bad{"redis://u:canary@fe80::1", "brackets"},
        bad{"redis://u:canary@[::1", "']'"}, bad{"redis://u:canary@[::1]6379", "only :port"},
        bad{"redis://u:canary@[localhost]", "IPv6"}, bad{"redis://u:canary@ho st", "host name"},
        bad{"redis://u:canary%@h", "password: two hexadecimal"},
        bad{"redis://u:canary%4@h", "password: two hexadecimal"},
        bad{"redis://u:canary%zz@h", "password: two hexadecimal"},
        bad{"redis://u:canary%00@h", "%00"},
        bad{"redis://u%g:canary@h", "user name: two hexadecimal"},
        bad{"redis://u:canary@h/a%2", "path: two hexadecimal"},
        bad{"redis://u:canary@h?a=%", "option \"a\": two hexadecimal"},
        bad{"redis://u:canary@h?a=1&a=2", "\"a\" is given twice"},
        bad{"redis://u:canary@h?=1", "no name"}, bad{"redis://u:canary@h/x#y", "%23"},
        bad{"redis://u:canary@h\n/x", "control characters"},
        // Passwords that were not escaped, or that stand where none belongs.
        bad{"redis://u:12/canary@h", "%2F"}, bad{"redis://u:12?canary@h", "%3F"},
        bad{"redis://u:canary/x@h", "port"}, bad{"redis://u:canary?x@h", "port"},
        bad{"redis://:canary", "host is missing"}, bad{"redis://u:canary", "port"},
        bad{"redis:u:canary@h?%", "option name"}, bad{"redis://u:1@2/canary@h", "%2F"}));

TEST(url, without_the_slashes_still_hides_what_may_be_a_password) {
  EXPECT_EQ(parse_url("redis:u:canary@h").printable, "redis:***@h");
}

TEST(url, with_an_unescaped_at_in_the_password_is_still_read) {
  const auto u = parse_url("redis://u:can@ary@h");
  EXPECT_EQ(u.password.reveal(), "can@ary");
  EXPECT_EQ(u.printable, "redis://u:***@h");
}

TEST(parse_duration, knows_its_units) {
  EXPECT_EQ(parse_duration("lease", "250ms"), 250ms);
  EXPECT_EQ(parse_duration("lease", "10s"), 10s);
  EXPECT_EQ(parse_duration("lease", "5m"), 5min);
  EXPECT_EQ(parse_duration("lease", "24h"), 24h);
  EXPECT_EQ(parse_duration("lease", "7"), 7s);
  EXPECT_EQ(parse_duration("lease", "0"), 0s);
}

TEST(parse_duration, refuses_everything_else_and_names_key_and_value) {
  for (const std::string text : {"", "s", "-1s", "1.5s", "10 s", "10S", "10sec", "1d", "+1s",
                                 "0x1s", "9223372036854775807h", "99999999999999999999"}) {
    const auto f = test::failure_of([&] { parse_duration("lease", text); });
    EXPECT_EQ(f.code, errc::bad_url) << text;
    EXPECT_THAT(f.message, HasSubstr("lease"));
    EXPECT_THAT(f.message, HasSubstr("\"" + text + "\""));
  }
}

TEST(parse_number, reads_whole_numbers_and_nothing_else) {
  EXPECT_EQ(parse_number("handoff", "0"), 0U);
  EXPECT_EQ(parse_number("handoff", "4294967295"), 4294967295U);
  for (const std::string text : {"", "-1", "+1", "1 ", "1x", "4294967296", "1e3"}) {
    const auto f = test::failure_of([&] { parse_number("handoff", text); });
    EXPECT_EQ(f.code, errc::bad_url) << text;
    EXPECT_THAT(f.message, HasSubstr("handoff"));
  }
}

}  // namespace
}  // namespace afar::detail
