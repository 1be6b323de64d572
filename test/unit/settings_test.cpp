#include "core/settings.hpp"

#include "core/note.hpp"
#include "core/url.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace afar::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

settings made(const client_options& options, std::string_view query = "") {
  auto where = parse_url("redis://u:canary@h" + std::string{query});
  return make_settings(options, where);
}

test::failure failure_of(const client_options& options, std::string_view query = "") {
  auto f = test::failure_of([&] { made(options, query); });
  EXPECT_THAT(f.message, Not(HasSubstr("canary")));
  return f;
}

TEST(settings, have_the_documented_defaults) {
  const auto s = made({});
  EXPECT_EQ(s.lease, 30s);
  EXPECT_EQ(s.margin_of(30s), 302ms);
  EXPECT_EQ(s.margin_of(100ms), 3ms);
  EXPECT_EQ(s.patience, 10s);
  EXPECT_EQ(s.handoff, 16U);
  EXPECT_EQ(s.sticky, 0ms);
  EXPECT_EQ(s.prefix, "");
  EXPECT_EQ(s.require, guarantee::none);
  EXPECT_FALSE(s.observer);
  EXPECT_EQ(s.url, "redis://u:***@h");
}

TEST(settings, come_from_the_url) {
  const auto s = made({},
                      "?lease=5s&margin=100ms&patience=0&handoff=0&prefix=app%2F&label=night%20run"
                      "&command=backup&require=fifo,survives_failover");
  EXPECT_EQ(s.lease, 5s);
  EXPECT_EQ(s.margin_of(s.lease), 100ms);
  EXPECT_EQ(s.patience, 0s);
  EXPECT_EQ(s.handoff, 0U);
  EXPECT_EQ(s.prefix, "app/");
  EXPECT_EQ(note::decode(s.note).label, "night run");
  EXPECT_EQ(note::decode(s.note).command, "backup");
  EXPECT_EQ(s.require, guarantee::fifo | guarantee::survives_failover);
}

TEST(settings, of_the_struct_win_over_those_of_the_url) {
  const auto s = made({.lease = 2s, .handoff = 1, .prefix = "", .label = "mine"},
                      "?lease=5s&handoff=2&prefix=x&label=yours");
  EXPECT_EQ(s.lease, 2s);
  EXPECT_EQ(s.handoff, 1U);
  EXPECT_EQ(s.prefix, "");
  EXPECT_EQ(note::decode(s.note).label, "mine");
}

TEST(settings, take_their_keys_and_leave_the_engines) {
  auto where = parse_url("redis://h?lease=5s&durable=1&label=x");
  make_settings({.lease = 2s}, where);
  EXPECT_EQ(where.options, (std::map<std::string, std::string>{{"durable", "1"}}));
}

TEST(settings, outside_their_range_are_refused_with_the_range) {
  const auto lease = failure_of({}, "?lease=9ms");
  EXPECT_EQ(lease.code, errc::bad_url);
  EXPECT_THAT(lease.message, HasSubstr("lease=9ms: 10ms to 24h"));
  EXPECT_EQ(failure_of({}, "?lease=86401s").code, errc::bad_url);
  EXPECT_EQ(failure_of({.lease = 9ms}).code, errc::bad_argument);
  EXPECT_EQ(failure_of({.lease = -1s}).code, errc::bad_argument);
  EXPECT_EQ(failure_of({.lease = std::chrono::milliseconds::max()}).code, errc::bad_argument);

  EXPECT_EQ(made({}, "?sticky=5ms").sticky, 5ms);
  EXPECT_EQ(made({.sticky = 0ms}, "?sticky=5ms").sticky, 0ms);
  EXPECT_EQ(failure_of({}, "?sticky=101ms").code, errc::bad_url);
  const auto handoff = failure_of({}, "?handoff=10001");
  EXPECT_EQ(handoff.code, errc::bad_url);
  EXPECT_THAT(handoff.message, HasSubstr("handoff=10001: 0 to 10000"));
  EXPECT_EQ(failure_of({.handoff = 10'001}).code, errc::bad_argument);
  EXPECT_EQ(failure_of({}, "?handoff=many").code, errc::bad_url);

  EXPECT_EQ(failure_of({.patience = -1ms}).code, errc::bad_argument);
  EXPECT_EQ(failure_of({}, "?patience=25h").code, errc::bad_url);
  EXPECT_THAT(failure_of({.prefix = std::string(513, 'x')}).message,
              HasSubstr("at most 512 bytes"));
}

TEST(settings, at_the_ends_of_their_range_are_taken) {
  EXPECT_EQ(made({.lease = 10ms}).lease, 10ms);
  EXPECT_EQ(made({.lease = 24h}).lease, 24h);
  EXPECT_EQ(made({.handoff = 10'000}).handoff, 10'000U);
  EXPECT_EQ(made({.prefix = std::string(512, 'x')}).prefix.size(), 512U);
}

TEST(settings, refuse_a_margin_that_eats_the_lease_wherever_the_two_come_from) {
  EXPECT_EQ(made({.margin = 500ms}, "?lease=1s").margin_of(1s), 500ms);
  EXPECT_EQ(failure_of({.margin = 501ms}, "?lease=1s").code, errc::bad_argument);
  EXPECT_EQ(failure_of({.lease = 1s}, "?margin=501ms").code, errc::bad_url);
  EXPECT_EQ(failure_of({.margin = -1ms}).code, errc::bad_argument);
}

TEST(settings, know_the_guarantees_by_name) {
  const auto f = failure_of({}, "?require=fifo,fast");
  EXPECT_EQ(f.code, errc::bad_url);
  EXPECT_THAT(f.message, HasSubstr("require"));
  EXPECT_THAT(f.message, HasSubstr("\"fast\" is none of fifo, fenced"));
}

TEST(check_name, allows_1_to_1024_bytes_of_any_kind) {
  check_name("x");
  check_name(std::string(1'024, '\0'));
  EXPECT_THAT(test::failure_of([] { check_name(""); }).message,
              HasSubstr("1 to 1024 bytes, not 0"));
  const auto f = test::failure_of([] { check_name(std::string(1'025, 'x')); });
  EXPECT_EQ(f.code, errc::bad_argument);
  EXPECT_THAT(f.message, HasSubstr("not 1025"));
}

TEST(check_lease, names_the_resource_and_the_range) {
  check_lease(10ms, "orders");
  check_lease(24h, "orders");
  const auto f = test::failure_of([] { check_lease(0ms, "orders"); });
  EXPECT_EQ(f.code, errc::bad_argument);
  EXPECT_THAT(f.message, HasSubstr("orders"));
  EXPECT_THAT(f.message, HasSubstr("10ms to 24h, not 0ms"));
}

TEST(check_guarantees, names_what_the_engine_lacks) {
  const spi::traits weak{.name = "memory", .fifo = true, .survives_restart = false};
  check_guarantees(guarantee::none, weak, "memory:");
  check_guarantees(guarantee::fifo | guarantee::fenced, weak, "memory:");
  const auto f = test::failure_of([&] {
    check_guarantees(guarantee::fifo | guarantee::survives_restart | guarantee::survives_failover,
                     weak, "memory:");
  });
  EXPECT_EQ(f.code, errc::unsupported);
  EXPECT_THAT(f.message,
              HasSubstr("the memory engine does not offer survives_restart, survives_failover"));
  EXPECT_THAT(f.message, Not(HasSubstr("fifo")));
}

}  // namespace
}  // namespace afar::detail
