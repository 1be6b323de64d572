// The shell lines of README.md, word for word.
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

namespace afar::test {
namespace {

// The lines that begin with "afar " in blocks of shell.
std::vector<std::string> shell_lines() {
  std::vector<std::string> found;
  std::istringstream text{contents(AFAR_SOURCES "/README.md")};
  bool in_shell = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) in_shell = !in_shell && line == "```sh";
    if (in_shell && line.starts_with("afar ")) found.push_back(line);
  }
  return found;
}

TEST(readme, shell_lines_work_word_for_word) {
  const auto lines = shell_lines();
  ASSERT_GE(lines.size(), 3U);
  const scene stage;
  auto env = engine_of(stage);
  const auto folder = std::filesystem::path{AFAR_BINARY}.parent_path().string();
  for (const auto& line : lines) {
    program p{on::pipes, {"sh", "-c", "PATH=" + folder + ":$PATH\n" + line}, env};
    EXPECT_EQ(p.ends(), 0) << line << p.err();
    EXPECT_NE(p.out(), "") << line;
    EXPECT_EQ(p.err(), "") << line;
  }
}

}  // namespace
}  // namespace afar::test
