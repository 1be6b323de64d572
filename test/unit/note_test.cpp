#include "core/note.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace afar::detail {
namespace {

TEST(note, comes_back_as_it_was) {
  const note n{.host = "web1",
               .pid = 42,
               .user = "www",
               .command = "shop",
               .label = "nächtlich=1",
               .value = "http://x"};
  const auto back = note::decode(n.encode());
  EXPECT_EQ(back.host, "web1");
  EXPECT_EQ(back.pid, 42);
  EXPECT_EQ(back.user, "www");
  EXPECT_EQ(back.command, "shop");
  EXPECT_EQ(back.label, "nächtlich=1");
  EXPECT_EQ(back.value, "http://x");
}

TEST(note, keeps_every_byte_of_the_value) {
  std::string value;
  for (int i = 0; i < 512; ++i) value += static_cast<char>(i);
  value.replace(0, 12, "\nhost=fake\n\\");
  const auto back = note::decode(note{.host = "real", .value = value}.encode());
  EXPECT_EQ(back.value, value);
  EXPECT_EQ(back.host, "real");
}

TEST(note, does_not_let_a_label_forge_another_field) {
  const auto back = note::decode(note{.host = "real", .label = "x\nhost=fake\nvalue=y"}.encode());
  EXPECT_EQ(back.host, "real");
  EXPECT_EQ(back.label, "x host=fake value=y");
  EXPECT_EQ(back.value, "");
}

TEST(note, fits_into_a_kibibyte_and_cuts_the_command_before_the_label) {
  const note n{.host = std::string(300, 'h'),
               .pid = -9'223'372'036'854'775'807,
               .user = std::string(300, 'u'),
               .command = std::string(2'000, 'c'),
               .label = std::string(200, 'l'),
               .value = std::string(600, 'v')};
  const auto text = n.encode();
  EXPECT_LE(text.size(), longest_note);
  EXPECT_GE(text.size(), longest_note - 8);
  const auto back = note::decode(text);
  EXPECT_EQ(back.value.size(), longest_value);
  EXPECT_EQ(back.label, n.label);
  EXPECT_GT(back.command.size(), 0U);
  note loud = n;
  loud.label = std::string(5'000, 'l');
  EXPECT_LE(loud.encode().size(), longest_note);
}

TEST(note, cuts_between_characters) {
  std::string label;
  for (int i = 0; i < 600; ++i) label += "ü";
  const auto back = note::decode(note{.pid = 1, .label = label}.encode());
  EXPECT_EQ(back.label.size() % 2, 0U);
  EXPECT_GT(back.label.size(), 900U);
}

TEST(note, ignores_what_it_does_not_know) {
  const auto back = note::decode("mood=good\nhost=a\n\nnonsense\npid=x\nuser=b");
  EXPECT_EQ(back.host, "a");
  EXPECT_EQ(back.user, "b");
  EXPECT_EQ(back.pid, 0);
  EXPECT_EQ(note::decode("").host, "");
  EXPECT_EQ(note::decode(std::string_view{"\0\n=\n==\nvalue=", 13}).value, "");
}

TEST(note, of_this_process_says_who_it_is_and_not_its_arguments) {
  const auto n = note::of_this_process("night run");
  char host[256] = {};
  ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
  EXPECT_EQ(n.host, host);
  EXPECT_EQ(n.pid, ::getpid());
  EXPECT_FALSE(n.user.empty());
  EXPECT_FALSE(n.command.empty());
  EXPECT_EQ(n.command.find('/'), std::string::npos);
  EXPECT_EQ(n.command.find("--gtest"), std::string::npos);
  EXPECT_EQ(n.label, "night run");
}

}  // namespace
}  // namespace afar::detail
