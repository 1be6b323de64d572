// afar_bench from its start to its end, as short as it gets: how large its figures are is nobody's business here.
#include "crew.hpp"
#include "scratch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using testing::Contains;
using testing::HasSubstr;

std::string content(const std::string& file) {
  std::ifstream in{file};
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class bench_run : public testing::Test {
 protected:
  // What it prints; the last line is "code <its exit code>".
  std::vector<std::string> run(std::vector<std::string> words) const {
    ::setenv("AFAR_BENCH_PEERS", folder.path().c_str(), 1);
    words.insert(words.begin(), {"sh", "-c", R"("$0" "$@"; echo "code $?")", AFAR_BENCH, "--rounds",
                                 "1", "--seconds", "0.02", "--most", "10"});
    bench::member program{words};
    std::vector<std::string> lines;
    do lines.push_back(program.hear());
    while (!lines.back().starts_with("code "));
    return lines;
  }

  bench::scratch folder;
};

TEST_F(bench_run, writes_a_document_with_pictures_and_json) {
  const auto lines = run({"--rows", "P8,growth", "--engine", "embedded", "--document",
                          folder.file("page.md"), "--json", folder.file("page.json")});
  EXPECT_EQ(lines.back(), "code 0");
  const std::string page = content(folder.file("page.md"));
  EXPECT_THAT(page, HasSubstr("script/bench --rounds 1"));
  EXPECT_THAT(page, HasSubstr("split = cores"));  // the pinning
  EXPECT_THAT(page, HasSubstr("| P8 | embedded"));
  EXPECT_THAT(page, HasSubstr("not met: too few rounds"));
  for (const char* picture :
       {"goals", "held_locks", "names_in_use", "threads_of_one_client", "processes",
        "waiters_for_one_lock", "waiters_in_the_engine_s_line"}) {
    EXPECT_THAT(page, HasSubstr(std::string{"(page/"} + picture + ".svg)"));
    EXPECT_TRUE(std::filesystem::exists(folder.file(std::string{"page/"} + picture + ".svg")))
        << picture;
  }
  const auto j = nlohmann::json::parse(content(folder.file("page.json")));
  EXPECT_FALSE(j["rows"].empty());
  EXPECT_EQ(j["curves"].size(), 8U);  // names in use has two: afar and the tree below it
}

TEST_F(bench_run, goes_on_without_the_peers_that_cannot_be_had_and_says_so) {
  std::ofstream{folder.file("peers")}
      << "redis\tabsent\tskipped\tno registry\nredis\tbroken\tfalse\n";
  const auto lines = run({"--rows", "P17"});
  EXPECT_EQ(lines.back(), "code 0");
  for (const char* setting : {"Redis, 1 worker, same", "Redis, 64 workers on 64 names, split"}) {
    const std::string row = std::string{"P17, "} + setting;
    EXPECT_THAT(lines, Contains("skipped: " + row + ": absent: no registry"));
    EXPECT_THAT(lines, Contains(HasSubstr("skipped: " + row + ": broken failed: ")));
    EXPECT_THAT(lines, Contains(HasSubstr(std::string{"P17: "} + setting + ": afar: ")));
  }
}

}  // namespace
