// Processes that keep a mutex of a Redis server after its use.
#include "actor.hpp"
#include "support/patience.hpp"
#include "support/redis_server.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

namespace afar::test {
namespace {

std::int64_t number_in(const std::string& path) {
  std::int64_t value = 0;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(::pread(file, &value, sizeof value, 0), static_cast<ssize_t>(sizeof value));
  ::close(file);
  return value;
}

TEST(redis_sticky_process, killed_with_what_nobody_uses_costs_others_its_short_lease) {
  const redis_server server;
  actor keeps{server.url() + "?sticky=100ms"};
  actor next{server.url()};
  const std::string file = server.folder() + "/number";
  const auto killed_while_kept = [&] {
    keeps.ask("guarded x " + file + " 200");
    keeps.stop();  // or it might be given back before it is killed
    return server.ask({"EXISTS", "x"}) == ":1\r\n";
  };
  while (!killed_while_kept()) keeps.resume();
  keeps.kill();
  const grant got = next.acquire("mutex", "x");
  ASSERT_TRUE(got);
  EXPECT_LT(got.at - keeps.death(), (slowness * nanoseconds{5s}).count()) << "3 s, not 30";
  EXPECT_EQ(number_in(file) % 200, 0);
}

TEST(redis_sticky_process, stopped_with_what_nobody_uses_does_not_have_it_when_it_goes_on) {
  const redis_server server;
  actor keeps{server.url() + "?sticky=100ms"};
  actor next{server.url()};
  const std::string file = server.folder() + "/number";
  keeps.ask("guarded x " + file + " 200");
  keeps.stop();
  const grant got = next.acquire("mutex", "x");  // at most 3 s
  ASSERT_TRUE(got);
  keeps.resume();
  EXPECT_FALSE(keeps.acquire("mutex", "x", 50ms));
  EXPECT_EQ(next.ask("valid"), "1");
  EXPECT_EQ(next.ask("release"), "0");
  const grant again = keeps.acquire("mutex", "x");
  EXPECT_GT(again.token, got.token);
}

TEST(redis_sticky_process, count_right_together) {
  const redis_server server;
  const std::string file = server.folder() + "/number";
  std::vector<std::unique_ptr<actor>> all;
  for (const char* query : {"?sticky=5ms", "?sticky=100ms", "?sticky=1ms", ""})
    all.push_back(std::make_unique<actor>(server.url() + query));
  for (auto& a : all) a->send("guarded x " + file + " 2000");
  for (auto& a : all) EXPECT_EQ(a->answer(), "ok");
  EXPECT_EQ(number_in(file), 8'000);
}

TEST(redis_sticky_process, forked_child_does_not_touch_what_its_parent_keeps) {
  const redis_server server;
  actor keeps{server.url() + "?sticky=100ms"};
  actor next{server.url()};
  const std::string file = server.folder() + "/number";
  keeps.ask("guarded x " + file + " 200");
  const pid_t child = static_cast<pid_t>(keeps.number("fork"));
  EXPECT_EQ(keeps.ask("guarded x " + file + " 200"), "ok");
  EXPECT_TRUE(next.acquire("mutex", "x"));
  EXPECT_EQ(next.ask("release"), "0");
  EXPECT_EQ(keeps.ask("guarded x " + file + " 200"), "ok");
  EXPECT_EQ(number_in(file), 600);
  ::kill(child, SIGKILL);
}

}  // namespace
}  // namespace afar::test
