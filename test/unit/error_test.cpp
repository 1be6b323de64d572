#include <afar/error.hpp>

#include <afar/observer.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace afar {
namespace {

using ::testing::HasSubstr;

constexpr int first = static_cast<int>(errc::timed_out);
constexpr int last = static_cast<int>(errc::forked);

TEST(errc, have_each_a_message_of_their_own) {
  std::set<std::string> messages;
  for (int e = first; e <= last; ++e) messages.insert(category().message(e));
  EXPECT_EQ(messages.size(), static_cast<std::size_t>(last - first + 1));
  for (const auto& m : messages) EXPECT_EQ(m.find("unknown error"), std::string::npos) << m;
  EXPECT_EQ(category().message(last + 1), "unknown error " + std::to_string(last + 1));
  EXPECT_STREQ(category().name(), "afar");
}

TEST(errc, compare_with_the_standard_conditions) {
  EXPECT_EQ(make_error_code(errc::timed_out), std::errc::timed_out);
  EXPECT_EQ(make_error_code(errc::cancelled), std::errc::operation_canceled);
  EXPECT_EQ(make_error_code(errc::not_owner), std::errc::operation_not_permitted);
  EXPECT_EQ(make_error_code(errc::deadlock), std::errc::resource_deadlock_would_occur);
  EXPECT_EQ(make_error_code(errc::unsupported), std::errc::not_supported);
  EXPECT_EQ(make_error_code(errc::bad_url), std::errc::invalid_argument);
  EXPECT_EQ(make_error_code(errc::bad_argument), std::errc::invalid_argument);
  EXPECT_EQ(make_error_code(errc::no_room), std::errc::no_space_on_device);
  EXPECT_EQ(make_error_code(errc::denied), std::errc::permission_denied);
  EXPECT_EQ(make_error_code(errc::overflow), std::errc::value_too_large);
}

TEST(errc, without_a_standard_condition_equal_themselves_only) {
  for (const auto e : {errc::lost, errc::broken, errc::wrong_use, errc::unknown_outcome,
                       errc::unavailable, errc::damaged, errc::closed, errc::forked}) {
    const std::error_code code = e;
    EXPECT_EQ(code.default_error_condition().category(), category());
    EXPECT_EQ(code, e);
    EXPECT_NE(code, errc::timed_out);
  }
}

TEST(lock_error, says_resource_message_and_detail) {
  const lock_error plain{errc::closed, "orders/42"};
  EXPECT_STREQ(plain.what(), "afar: orders/42: the client is closed");
  EXPECT_EQ(plain.resource(), "orders/42");
  EXPECT_EQ(plain.code(), errc::closed);
  const lock_error more{errc::wrong_use, "orders/42", "is a stock, not a mutex"};
  EXPECT_STREQ(more.what(), "afar: orders/42: in use as something else: is a stock, not a mutex");
}

TEST(lock_error, is_a_system_error_and_keeps_its_text_when_copied) {
  try {
    throw lock_error{std::make_error_code(std::errc::io_error), "x", "y"};
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::io_error);
    EXPECT_THAT(e.what(), HasSubstr("afar: x: "));
    EXPECT_THAT(e.what(), HasSubstr(": y"));
  }
  const lock_error one{errc::lost, "name"};
  const lock_error two = one;  // NOLINT(performance-unnecessary-copy-initialization): tested
  EXPECT_STREQ(one.what(), two.what());
}

TEST(lock_error, makes_bytes_visible_that_cannot_be_printed) {
  const std::string name{"a\0b\n\x1b[31m\x7f", 10};
  EXPECT_THAT(lock_error(errc::lost, name).what(), HasSubstr("a\\x00b\\x0a\\x1b[31m\\x7f: lost"));
  EXPECT_EQ(lock_error(errc::lost, name).resource(), name);
}

TEST(lock_error, leaves_well_formed_utf8_alone_and_shows_the_rest_as_bytes) {
  EXPECT_THAT(lock_error(errc::lost, "größe/注文/🔒").what(), HasSubstr("größe/注文/🔒"));
  EXPECT_THAT(lock_error(errc::lost, "\xc3").what(), HasSubstr("\\xc3: "));         // cut short
  EXPECT_THAT(lock_error(errc::lost, "\xc0\xaf").what(), HasSubstr("\\xc0\\xaf"));  // overlong
  EXPECT_THAT(lock_error(errc::lost, "\xe0\x80\xaf").what(), HasSubstr("\\xe0\\x80\\xaf"));
  EXPECT_THAT(lock_error(errc::lost, "\xed\xa0\x80").what(),
              HasSubstr("\\xed\\xa0\\x80"));  // surrogate
  EXPECT_THAT(lock_error(errc::lost, "\xf4\x90\x80\x80").what(),
              HasSubstr("\\xf4\\x90"));  // too large
  EXPECT_THAT(lock_error(errc::lost,
                         "\xc2\x9b"
                         "31m")
                  .what(),
              HasSubstr("\\xc2\\x9b31m"));  // control
  EXPECT_THAT(lock_error(errc::lost, "\xff").what(), HasSubstr("\\xff"));
}

TEST(lock_error, cuts_a_long_resource_at_200_bytes) {
  const lock_error e{errc::lost, std::string(1'024, 'n')};
  EXPECT_THAT(e.what(), HasSubstr("afar: " + std::string(200, 'n') + "...: lost"));
  const lock_error fits{errc::lost, std::string(200, 'n')};
  EXPECT_THAT(fits.what(), HasSubstr(std::string(200, 'n') + ": lost"));
  const lock_error wide{errc::lost, std::string(199, 'n') + "ü"};
  EXPECT_THAT(wide.what(), HasSubstr(std::string(199, 'n') + "...: lost"));
  EXPECT_EQ(e.resource().size(), 1'024U);
}

TEST(loss_reason, has_a_word_for_each) {
  EXPECT_EQ(word(loss_reason::none), "none");
  EXPECT_EQ(word(loss_reason::expired), "expired");
  EXPECT_EQ(word(loss_reason::evicted), "evicted");
  EXPECT_EQ(word(loss_reason::asked), "asked");
  EXPECT_EQ(word(loss_reason::session), "session");
  EXPECT_EQ(word(loss_reason::unreachable), "unreachable");
  EXPECT_EQ(word(loss_reason::closed), "closed");
}

}  // namespace
}  // namespace afar
