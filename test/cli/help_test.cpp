// What every verb has: help with examples, and errors on stderr.
#include "cli/verbs.hpp"
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace afar::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct output {
  int code;
  std::string out;
  std::string err;
};
output of(words_of words) {
  program p{on::pipes, afar(std::move(words))};
  const int code = p.ends();
  return {code, p.out(), p.err()};
}

std::vector<std::string> shown_verbs() {
  std::vector<std::string> names;
  for (const auto& v : cli::verbs())
    if (v.summary != nullptr) names.emplace_back(v.name);
  return names;
}

TEST(help, lists_every_verb) {
  for (const auto& words : std::vector<words_of>{{}, {"help"}, {"--help"}, {"-h"}}) {
    const auto all = of(words);
    EXPECT_EQ(all.code, 0);
    for (const auto& v : shown_verbs()) EXPECT_THAT(all.out, HasSubstr("\n  " + v + " "));
    EXPECT_THAT(all.out, HasSubstr("Examples:"));
    EXPECT_THAT(all.err, IsEmpty());
  }
}

TEST(help, explains_every_verb) {
  for (const auto& v : shown_verbs()) {
    const auto one = of({"help", v});
    EXPECT_EQ(one.code, 0) << v;
    EXPECT_THAT(one.out, HasSubstr("Usage: afar " + v));
    EXPECT_EQ(one.out, of({v, "--help"}).out);
  }
  EXPECT_THAT(of({"help", "run"}).out, HasSubstr("Examples:"));
  EXPECT_EQ(of({"help", "nosuch"}).code, 64);
}

TEST(help, is_not_confused_with_that_of_the_command) {
  scene stage;
  program p{on::pipes, afar({"run", "x", "sh", "-c", "echo $0", "--help"}), engine_of(stage)};
  EXPECT_EQ(p.ends(), 0);
  EXPECT_EQ(p.out(), "--help\n");
}

TEST(version, is_told) {
  EXPECT_THAT(of({"version"}).out, ::testing::MatchesRegex("afar [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(of({"--version"}).out, of({"version"}).out);
  EXPECT_THAT(of({"version", "--json"}).out, HasSubstr("{\"version\":\""));
}

TEST(output, that_cannot_be_written_is_an_error) {
  program p{on::pipes, {"sh", "-c", std::string{AFAR_BINARY} + " version > /dev/full"}};
  EXPECT_EQ(p.ends(), 1);
  EXPECT_THAT(p.err(), HasSubstr("afar: cannot write: "));
}

TEST(every_verb, is_in_the_manual_and_the_guide) {
  const auto manual = contents(AFAR_SOURCES "/cli/afar.1");
  const auto guide = contents(AFAR_SOURCES "/docs/cli.md");
  for (const auto& v : shown_verbs()) {
    EXPECT_THAT(manual, HasSubstr("\n.B afar " + v)) << v;
    EXPECT_THAT(guide, HasSubstr("`afar " + v)) << v;
  }
}

// The words that bash would offer after these.
std::string completion(const std::string& words) {
  program p{on::pipes,
            {"bash", "-c",
             "PATH=" + std::filesystem::path{AFAR_BINARY}.parent_path().string() +
                 ":$PATH; . " AFAR_SOURCES "/cli/completion.bash; COMP_WORDS=(" + words +
                 "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _afar; echo \" ${COMPREPLY[*]} \""}};
  p.ends();
  return p.out() + p.err();
}

TEST(completion, offers_verbs_options_and_commands) {
  for (const auto& v : shown_verbs()) EXPECT_THAT(completion("afar ''"), HasSubstr(" " + v + " "));
  EXPECT_EQ(completion("afar ru"), " run \n");
  EXPECT_THAT(completion("afar run --"), HasSubstr(" --at-least "));
  EXPECT_THAT(completion("afar run --"), HasSubstr(" --url-file "));
  EXPECT_EQ(completion("afar run --on-lo"), " --on-lost \n");
  EXPECT_EQ(completion("afar run --on-lost k"), " kill \n");
  EXPECT_EQ(completion("afar help vers"), " version \n");
  EXPECT_THAT(completion("afar run x bas"), HasSubstr(" bash "));
}

}  // namespace
}  // namespace afar::test
