// afar doctor.
#include "verbs_fixture.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <csignal>

namespace afar::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class doctors : public verbs {
 protected:
  // The grade of a topic in the JSON form; empty: there is none.
  static std::string grade_of(const nlohmann::json& j, const std::string& topic) {
    for (const auto& f : j.at("findings"))
      if (f.at("topic") == topic) return f.at("grade");
    return {};
  }
};

TEST_F(doctors, find_a_sound_engine_sound) {
  const auto a = run({"doctor"});
  EXPECT_EQ(a.code, 0) << a.out;
  EXPECT_THAT(a.out, HasSubstr("engine file://"));
  EXPECT_THAT(a.out,
              HasSubstr("ok   probe       acquire, renew, contend, fence and release passed"));
  EXPECT_THAT(a.out, HasSubstr("\n0 problems, "));
  const auto j = json_of({"doctor"});
  EXPECT_EQ(j.at("problems"), 0);
  for (const char* topic : {"folder", "filesystem", "space", "records", "clients", "dead", "boot",
                            "clock", "place", "roundtrip", "probe", "files", "cpu", "calendar"})
    EXPECT_NE(grade_of(j, topic), "") << topic;
}

TEST_F(doctors, leave_nothing_behind) {
  EXPECT_EQ(run({"doctor"}).code, 0);
  EXPECT_TRUE(survey(locks).empty());
}

TEST_F(doctors, take_the_url_as_an_argument) {
  env["AFAR_URL"] = "file:///proc/nowhere";
  EXPECT_EQ(run({"doctor", stage.url()}).code, 0);
  const auto a = run({"doctor"});
  EXPECT_EQ(a.code, 1);
  EXPECT_THAT(a.out, HasSubstr("FAIL engine "));
  EXPECT_THAT(a.out, HasSubstr("1 problem, "));
  EXPECT_EQ(run({"doctor", "no-such-engine://x"}).code, 78);
}

TEST_F(doctors, warn_of_a_folder_that_others_can_see) {
  const std::string folder = stage.path("seen");
  ::mkdir(folder.c_str(), 0700);
  ::chmod(folder.c_str(), 0755);
  const auto j = json_of({"doctor", "file://" + folder});
  EXPECT_EQ(grade_of(j, "folder"), "WARN");
  EXPECT_THAT(run({"doctor", "file://" + folder}).out, HasSubstr(" → chmod 700 " + folder));
}

TEST_F(doctors, refuse_a_folder_that_others_may_write) {
  const std::string folder = stage.path("open");
  ::mkdir(folder.c_str(), 0700);
  ::chmod(folder.c_str(), 0777);
  const auto a = run({"doctor", "file://" + folder});
  EXPECT_EQ(a.code, 1);
  EXPECT_THAT(a.out, HasSubstr("others may write to " + folder));
  EXPECT_THAT(a.out, HasSubstr("chmod 700"));
}

TEST_F(doctors, see_a_client_that_is_stopped) {
  auto p = start({"hold", "x"});
  token_of(p);
  p.signal(SIGSTOP);
  ASSERT_TRUE(p.stops());
  const auto j = json_of({"doctor"});
  EXPECT_EQ(grade_of(j, "clients"), "WARN");
  p.signal(SIGCONT);
}

TEST_F(doctors, see_what_dead_clients_left_and_how_to_free_it) {
  const auto killed = [&] {
    auto p = start({"hold", "x"});
    token_of(p);
    p.signal(SIGKILL);
    p.ends();
    return std::to_string(p.pid());
  };
  const auto pid = killed();
  const auto a = run({"doctor"});
  EXPECT_EQ(a.code, 0);
  EXPECT_THAT(
      a.out, HasSubstr("WARN dead        1 name is still marked as used by dead processes (" + pid +
                       ") → afar gc frees them"));
  killed();
  EXPECT_EQ(run({"gc"}).code, 0);
  EXPECT_EQ(grade_of(json_of({"doctor"}), "dead"), "ok");
}

// As if the machine had booted since.
TEST_F(doctors, see_that_a_folder_is_of_an_earlier_boot) {
  const std::string folder = stage.path("old");
  const words_of doctor{"doctor", "file://" + folder};
  ASSERT_EQ(run(doctor).code, 0);
  const std::string boot = contents(folder + "/boot");
  const std::string earlier = "00000000" + boot.substr(8);
  write_file(folder + "/boot", earlier);
  const auto a = run(doctor);
  EXPECT_EQ(a.code, 0);
  EXPECT_THAT(a.out, HasSubstr("what " + earlier.substr(0, 36) + " held is void"));
  EXPECT_THAT(run(doctor).out, Not(HasSubstr("is void"))) << "told once";
}

// A container with a boot id of its own.
TEST_F(doctors, refuse_a_folder_that_is_in_use_under_another_boot_id) {
  auto p = start({"hold", "x"});
  token_of(p);
  const std::string file = stage.path("engine/boot");
  const std::string boot = contents(file);
  write_file(file, "00000000" + boot.substr(8));
  const auto a = run({"doctor"});
  EXPECT_EQ(a.code, 1);
  EXPECT_THAT(a.out, HasSubstr("FAIL engine "));
  EXPECT_THAT(a.out, HasSubstr("is in use by process "));
  EXPECT_TRUE(p.running());
  // Who had it open before notices, too.
  const auto found = examine(locks);
  const auto seen = std::ranges::find(found, "boot", &finding::topic);
  ASSERT_NE(seen, found.end());
  EXPECT_EQ(seen->how, finding::grade::failure);
  write_file(file, boot);
  EXPECT_EQ(run({"doctor"}).code, 0);
}

TEST_F(doctors, examine_other_engines_too) { EXPECT_EQ(run({"doctor", "memory:"}).code, 0); }

}  // namespace
}  // namespace afar::test
