// Where the URL comes from, and that its password goes nowhere.
#include "cli/config.hpp"
#include "cli/failure.hpp"
#include "program.hpp"
#include "support/patience.hpp"

#include <afar/afar.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

namespace afar::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class contexts : public ::testing::Test {
 protected:
  contexts() {
    std::filesystem::create_directories(stage.path("config/afar"));
    env = {{"XDG_CONFIG_HOME", stage.path("config")}, {"AFAR_URL", ""}};
  }
  void configure(const std::string& text) {
    write_file(stage.path("config/afar/config.toml"), text);
  }
  // The exit code of a run that can only be refused if it uses the engine of the scene.
  int code_of(words_of words) {
    const client locks = stage.client();
    mutex x{locks, "x"};
    const hold held = x.acquire();
    words.insert(words.begin(), {"run", "-n"});
    words.insert(words.end(), {"x", "true"});
    program p{on::pipes, afar(words), env};
    const int code = p.ends();
    said = p.out() + p.err();
    return code;
  }

  scene stage;
  program::environment env;
  std::string said;
};

constexpr int used = 75;

TEST_F(contexts, the_url_is_that_of_the_option) {
  env["AFAR_URL"] = "nosuch:";
  EXPECT_EQ(code_of({"--url", stage.url()}), used);
}

TEST_F(contexts, or_that_of_a_file) {
  write_file(stage.path("url"), "  " + stage.url() + "\nsecond line\n");
  env["AFAR_URL"] = "nosuch:";
  EXPECT_EQ(code_of({"--url-file", stage.path("url")}), used);
  write_file(stage.path("url"), "\n");
  EXPECT_EQ(code_of({"--url-file", stage.path("url")}), 78);
  EXPECT_EQ(code_of({"--url-file", stage.path("url"), "--url", "memory:"}), 64);
}

TEST_F(contexts, or_that_of_a_context_of_the_configuration) {
  write_file(stage.path("url"), stage.url());
  configure("# places\n[contexts.here]\nurl = \"" + stage.url() + "\"  # ours\n" +
            "[contexts.\"by file\"]\nurl_file = '" + stage.path("url") + "'\n");
  env["AFAR_URL"] = "nosuch:";
  EXPECT_EQ(code_of({"--context", "here"}), used);
  EXPECT_EQ(code_of({"--context", "by file"}), used);
  EXPECT_EQ(code_of({"--context", "nowhere"}), 78);
  EXPECT_THAT(said, HasSubstr("there is no context 'nowhere'"));
}

TEST_F(contexts, or_that_of_the_environment) {
  configure("default = \"other\"\n[contexts.other]\nurl = \"nosuch:\"\n");
  env["AFAR_URL"] = stage.url();
  EXPECT_EQ(code_of({}), used);
}

TEST_F(contexts, or_that_of_the_default_context) {
  configure("default = \"here\"\n[contexts.here]\nurl = \"" + stage.url() + "\"\n");
  EXPECT_EQ(code_of({}), used);
}

TEST_F(contexts, or_the_embedded_engine_of_this_machine) {
  env["XDG_RUNTIME_DIR"] = stage.path("");
  program p{on::pipes, afar({"run", "x", "true"}), env};
  EXPECT_EQ(p.ends(), 0);
  EXPECT_TRUE(std::filesystem::exists(stage.path("afar/format")));
}

TEST_F(contexts, a_configuration_that_makes_no_sense_names_its_line) {
  for (const char* text : {"default\n", "default = here\n", "[contexts.x\n", "[other]\n",
                           "url = \"x\"\n", "[contexts.x]\nlease = \"1s\"\n", "default = \"x\n",
                           "default = \"x\" y\n", "default = \"\\n\"\n", "[contexts.]\n"}) {
    configure(text);
    EXPECT_EQ(code_of({}), 78) << text;
    EXPECT_THAT(said, HasSubstr("config.toml:")) << text;
  }
  configure("[contexts.x]\n");
  EXPECT_EQ(code_of({"--context", "x"}), 78);
  EXPECT_THAT(said, HasSubstr("needs url or url_file"));
}

// ---- passwords ----------------------------------------------------------------------------------

TEST_F(contexts, a_password_is_in_no_message_and_no_list_of_processes) {
  const std::string canary = "cAnArY-7f3a";
  const std::vector<std::string> urls{
      "redis://user:" + canary + "@localhost:1",  // where nobody listens
      "nosuch://user:" + canary + "@host/x",
      "file://user:" + canary + "@host/x",
      "local://user:" + canary + "@",
      "memory://:" + canary + "@host:0",
      "redis://user:" + canary + "@host:99999",
      "redis://user:" + canary + "@host/a@b",
      "redis://user:" + canary + "%zz@host",
      "redis://user:" + canary + "@ho st",
      "user:" + canary + "@host",
      canary,
      "redis:user:" + canary + "@host",
      "file:///proc/nowhere?password=" + canary,
      "file:///dev/shm?secret=" + canary,
      "faulty+redis://user:" + canary + "@host?drop=" + "2",
  };
  const std::vector<words_of> verbs{{"run", "x", "true"},
                                    {"run", "-n", "-s", "x", "true"},
                                    {"elect", "x", "true"},
                                    {"hold", "x"},
                                    {"ls"},
                                    {"inspect", "x"},
                                    {"check-token", "x", "1"},
                                    {"release", "x", "--token", "1", "--reason", "r"},
                                    {"count", "x"},
                                    {"latch", "x"},
                                    {"stock", "x", "show"},
                                    {"doctor"},
                                    {"gc"},
                                    {"demo", "--seconds", "1"},
                                    {"bench"}};
  for (const auto& url : urls) {
    write_file(stage.path("url"), url + "\n");
    configure("default = \"c\"\n[contexts.c]\nurl = \"" + url + "\"\n");
    for (const auto& verb : verbs) {
      for (const auto& source : std::vector<words_of>{
               {"--url", url}, {"--url-file", stage.path("url")}, {"--context", "c"}, {}}) {
        env["AFAR_URL"] = source.empty() ? url : "";
        words_of words = verb;
        words.insert(words.begin() + 1, source.begin(), source.end());
        program p{on::pipes, afar(words), env};
        EXPECT_NE(p.ends(), 0) << url;
        // Doctor says what it finds on its page.
        const bool found = verb.front() == "doctor" && p.out().starts_with("engine ");
        EXPECT_THAT(p.out() + p.err(), HasSubstr(found ? "FAIL engine" : "afar: ")) << url;
        EXPECT_THAT(p.out() + p.err(), Not(HasSubstr(canary)));
      }
    }
  }
  configure("default = \"c\"\n[contexts.c]\nurl = \"redis://u:" + canary + "@h\n");
  EXPECT_EQ(code_of({}), 78);
  EXPECT_THAT(said, Not(HasSubstr(canary)));
}

// A URL of the command line is seen by ps for a moment; one of the environment never is.
TEST_F(contexts, a_url_of_the_environment_is_not_in_the_arguments_or_the_note) {
  const std::string canary = "cAnArY-7f3a";
  env["AFAR_URL"] = stage.url() + "?label=quiet";
  program p{on::pipes, afar({"run", "x", "-c", "echo in; read line; : " + canary}), env};
  ASSERT_TRUE(p.says("in"));
  for (const pid_t pid : children_of(p.pid()))
    EXPECT_THAT(contents("/proc/" + std::to_string(pid) + "/cmdline"), Not(HasSubstr(stage.url())));
  EXPECT_THAT(stage.look("x").holders.at(0).note, Not(HasSubstr(canary)));
  p.type("\n");
  EXPECT_EQ(p.ends(), 0);
}

}  // namespace
}  // namespace afar::test
