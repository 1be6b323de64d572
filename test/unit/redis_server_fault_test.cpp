// What happens to a server, by name: the holder is told in time or keeps its hold, every call ends by
// its deadline, and when the server is well again so are its clients.
#include "redis_fault_fixture.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace afar::test {
namespace {

constexpr milliseconds margin = slowness * 100ms;

class redis_server_fault : public redis_fault_test {
 protected:
  // A client whose holds are short and whose calls do not wait long for a server.
  client connect_short() const {
    return connect(server.url(),
                   {.lease = renewed_lease, .margin = margin, .patience = slowness * 300ms});
  }

  // When a hold was told that it is lost.
  class listener {
   public:
    explicit listener(const hold& h)
        : callback_(h.lost(), [this] { at_ = boot_clock::now().time_since_epoch().count(); }) {}
    bool told() const { return at_ != 0; }
    boot_clock::time_point at() const {
      return boot_clock::time_point{boot_clock::duration{at_.load()}};
    }

   private:
    std::atomic<boot_clock::rep> at_ = 0;
    std::stop_callback<std::function<void()>> callback_;
  };

  // The hold lives on over more than a lease from now.
  static bool stays_valid(const hold& h) {
    const auto end = boot_clock::now() + renewed_lease + margin;
    EXPECT_TRUE(eventually([&] { return !h.valid() || boot_clock::now() >= end; }));
    return h.valid();
  }
  // Somebody else can have it, with a larger token.
  void expect_next(const hold& before) const {
    const hold next = mutex(straight, name).try_acquire_for(long_time);
    ASSERT_TRUE(next);
    EXPECT_GT(next.token(), before.token());
  }
  int failed_logins() const {  // since ACL LOG RESET; the log counts those that are alike
    int sum = 0;
    const std::string log = server.ask({"ACL", "LOG"});
    const std::string count = "$5\r\ncount\r\n:";
    for (auto at = log.find(count); at != std::string::npos; at = log.find(count, at + 1))
      sum += std::stoi(log.substr(at + count.size()));
    return sum;
  }
  bool set(const std::string& setting, const std::string& value) const {
    return eventually([&] { return server.ask({"CONFIG", "SET", setting, value}) == "+OK\r\n"; });
  }
};

TEST_F(redis_server_fault, stopped_past_the_lease) {
  const client c = connect_short();
  const hold held = mutex(c, name).acquire();
  const listener loss{held};
  counter number{c, name + "/n"};
  mutex m{c, name + "/m"};
  number.fetch_add(1);
  server.suspend();
  EXPECT_LT(time_of([&] { EXPECT_FALSE(m.try_acquire_for(slowness * 100ms)); }), slowness * 2s);
  EXPECT_LT(time_of([&] { EXPECT_TRUE(thrown_by([&] { number.fetch_add(1); })); }), slowness * 4s);
  EXPECT_TRUE(eventually([&] { return loss.told(); }));
  EXPECT_LT(loss.at(), held.valid_until() + margin) << "somebody else could have had it by then";
  EXPECT_FALSE(held.valid());
  EXPECT_EQ(held.why(), loss_reason::unreachable);
  server.resume();
  expect_next(held);
}

TEST_F(redis_server_fault, restart_without_persistence) {
  const client c = connect_short();
  const hold held = mutex(c, name).acquire();
  const listener loss{held};
  server.stop();
  server.start();
  EXPECT_TRUE(eventually([&] { return loss.told(); }));
  EXPECT_LT(loss.at(), held.valid_until() + margin);
  expect_next(held);
  EXPECT_TRUE(mutex(c, name + "/again").acquire()) << "its client is well again";
}

// As after a failover or a restart from an old file: the server knows a token that is older than the
// newest one it gave out. Found by torture (full_torture.of_sentinel_with_failovers).
TEST_F(redis_server_fault, tokens_grow_although_the_server_forgot_the_newest) {
  mutex m{straight, name};
  const std::uint64_t old = m.acquire().token();
  std::uint64_t newest = old;
  for (int i = 0; i < 100; ++i) newest = m.acquire().token();
  ASSERT_TRUE(eventually([&] { return is_free(name); }));
  server.ask({"SET", "redisson_lock_token:{" + name + "}", std::to_string(old)});
  EXPECT_GT(mutex(connect(server.url()), name).acquire().token(), newest) << "who comes new";
  ASSERT_TRUE(eventually([&] { return is_free(name); }));
  server.ask({"SET", "redisson_lock_token:{" + name + "}", std::to_string(old)});
  server.ask({"CLIENT", "KILL", "TYPE", "normal"});
  EXPECT_GT(m.acquire().token(), newest) << "who comes again";
}

TEST_F(redis_server_fault, flushall) {
  const client c = connect_short();
  const hold held = mutex(c, name).acquire();
  const listener loss{held};
  server.ask({"FLUSHALL"});
  EXPECT_TRUE(eventually([&] { return loss.told(); }));
  EXPECT_LT(loss.at(), held.valid_until() + margin);
  EXPECT_EQ(held.why(), loss_reason::expired);
  expect_next(held);
}

TEST_F(redis_server_fault, script_flush_in_mid_flight) {
  constexpr int threads = 4;
  constexpr int steps = 100;
  const client c = connect(server.url());
  std::atomic<int> running = threads;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&] {
      mutex m{c, name};
      counter n{c, name + "/n"};
      for (int i = 0; i < steps; ++i) {
        const hold held = m.acquire();
        n.fetch_add(1);
      }
      --running;
    });
  int flushes = 0;
  while (running > 0) flushes += server.ask({"SCRIPT", "FLUSH"}) == "+OK\r\n" ? 1 : 0;
  for (auto& t : all) t.join();
  EXPECT_GT(flushes, 0);
  EXPECT_EQ(counter(straight, name + "/n").load(), threads * steps);
  EXPECT_EQ(c.stats().retried, 0U) << "that is no failure";
}

TEST_F(redis_server_fault, busy_in_somebodys_script) {
  const client c = connect_short();
  mutex m{c, name};
  m.acquire().release();
  ASSERT_TRUE(set("busy-reply-threshold", "20"));
  std::thread somebody{[&] { server.ask({"EVAL", "while true do end", "0"}); }};
  ASSERT_TRUE(eventually([&] { return server.ask({"PING"}).starts_with("-BUSY"); }));
  const auto took = time_of([&] {
    std::error_code ec;
    EXPECT_FALSE(m.try_acquire_for(slowness * 100ms, {}, ec));
    EXPECT_TRUE(ec == errc::unavailable || ec == errc::timed_out) << ec.message();
  });
  EXPECT_LT(took, slowness * 2s);
  auto waits = std::async(std::launch::async, [&] { return mutex(straight, name).acquire(); });
  server.ask({"SCRIPT", "KILL"});
  EXPECT_TRUE(waits.get());
  somebody.join();
}

TEST_F(redis_server_fault, client_kill_of_each_connection) {
  const auto before = connections();
  const client c = connect_short();
  const hold held = mutex(c, name).acquire();
  ASSERT_TRUE(eventually([&] { return c.stats().renewed > 0; }));
  const auto mine = added_to(before);
  EXPECT_EQ(mine.size(), 3U) << "commands, renewals, messages";
  mutex other{straight, name + "/other"};
  for (const std::string& id : mine) {
    hold theirs = other.acquire();
    const auto waited = c.stats().waited;
    auto waits =
        std::async(std::launch::async, [&] { return mutex(c, name + "/other").acquire(); });
    ASSERT_TRUE(has_waited(c, waited + 1));
    server.ask({"CLIENT", "KILL", "ID", id});
    EXPECT_TRUE(eventually([&] { return none_is_left({id}); }));
    theirs.release();
    EXPECT_TRUE(waits.get());
  }
  EXPECT_TRUE(stays_valid(held));
}

TEST_F(redis_server_fault, slow_consumer_of_messages_disconnected) {
  const client c = connect_short();
  ASSERT_TRUE(set("client-output-buffer-limit", "pubsub 65536 0 0"));
  hold theirs = mutex(straight, name).acquire();
  auto waits = std::async(std::launch::async, [&] { return mutex(c, name).acquire(); });
  ASSERT_TRUE(has_waited(c));
  // Nothing is written to a consumer while a script runs, so that it is too slow for certain. Its own
  // grant is among what it does not hear.
  const std::string flood =
      "for _, c in ipairs(redis.call('PUBSUB', 'CHANNELS')) do "
      "for i = 1, 100 do redis.call('PUBLISH', c, string.rep('x', 16384)) end end "
      "redis.call('SET', KEYS[1], '1')";
  const auto before = connections();
  server.ask({"EVAL", flood, "1", name + "/flooded"});
  EXPECT_TRUE(eventually([&] { return !std::ranges::includes(connections(), before); }))
      << "nobody was disconnected";
  theirs.release();
  EXPECT_TRUE(waits.get());
}

TEST_F(redis_server_fault, out_of_memory) {
  const client c = connect_short();
  hold held = mutex(c, name).acquire();
  auto waits = std::async(std::launch::async, [&] { return mutex(straight, name).acquire(); });
  ASSERT_TRUE(has_waited(straight));
  ASSERT_TRUE(set("maxmemory", "1"));
  EXPECT_EQ(thrown_by([&] { (void)mutex(c, name + "/new").acquire(); }), errc::no_room);
  EXPECT_TRUE(stays_valid(held)) << "renewals need no room";
  std::error_code ec;
  held.release(ec);
  EXPECT_FALSE(ec) << ec.message();
  EXPECT_TRUE(waits.get()) << "nor does a release, and who comes next";
  ASSERT_TRUE(set("maxmemory", "0"));
}

TEST_F(redis_server_fault, misconf) {
  const client c = connect_short();
  const hold held = mutex(c, name).acquire();
  const listener loss{held};
  // A folder where the snapshot should be: it cannot be stored, not even by root.
  const std::string in_the_way = server.folder() + "/dump.rdb";
  std::filesystem::create_directory(in_the_way);
  ASSERT_TRUE(set("save", "3600 1"));
  const auto snapshot_is = [&](const std::string& how) {
    server.ask({"BGSAVE"});
    return eventually([&] {
      const std::string info = server.ask({"INFO", "persistence"});
      return info.find("rdb_bgsave_in_progress:0") != std::string::npos &&
             info.find("rdb_last_bgsave_status:" + how) != std::string::npos;
    });
  };
  ASSERT_TRUE(snapshot_is("err"));
  const auto failed = failure_of([&] { (void)mutex(c, name + "/new").acquire(); });
  EXPECT_EQ(failed.code, errc::unavailable);
  EXPECT_NE(failed.message.find("refuses writes"), std::string::npos) << failed.message;
  EXPECT_TRUE(eventually([&] { return loss.told(); })) << "it cannot be renewed";
  EXPECT_LT(loss.at(), held.valid_until() + margin);
  std::filesystem::remove(in_the_way);
  ASSERT_TRUE(snapshot_is("ok"));
  expect_next(held);
}

TEST_F(redis_server_fault, denied_after_rotation_of_the_password) {
  server.ask({"ACL", "SETUSER", "worker", "on", ">old", "~*", "&*", "+@all"});
  const auto before = connections();
  const client c =
      connect("redis://worker:old@" + server.address(), {.lease = renewed_lease, .margin = margin});
  const hold held = mutex(c, name).acquire();
  server.ask({"ACL", "SETUSER", "worker", "resetpass", ">new"});
  EXPECT_TRUE(stays_valid(held)) << "who is in stays in";
  const listener loss{held};
  server.ask({"ACL", "LOG", "RESET"});
  for (const std::string& id : added_to(before)) server.ask({"CLIENT", "KILL", "ID", id});
  EXPECT_TRUE(eventually(
      [&] { return thrown_by([&] { (void)mutex(c, name + "/new").acquire(); }) == errc::denied; }));
  EXPECT_TRUE(eventually([&] { return loss.told(); }));
  EXPECT_LT(loss.at(), held.valid_until() + margin);
  EXPECT_LT(failed_logins(), 100) << "a storm of them";
  server.ask({"ACL", "SETUSER", "worker", "resetpass", ">old"});
  EXPECT_TRUE(eventually([&] {
    std::error_code ec;
    return static_cast<bool>(mutex(c, name).try_acquire({}, ec));
  }));
}

TEST_F(redis_server_fault, max_clients) {
  const client c = connect_short();
  const hold held = mutex(c, name).acquire();
  ASSERT_TRUE(set("maxclients", "12"));
  std::vector<client> others;
  const auto refused = failure_of([&] {
    while (others.size() < 12)
      others.emplace_back(server.url(), client_options{.connect_timeout = slowness * 300ms});
  });
  EXPECT_EQ(refused.code, errc::unavailable);
  EXPECT_NE(refused.message.find("maxclients"), std::string::npos) << refused.message;
  EXPECT_TRUE(stays_valid(held)) << "its renewals have their connection";
  others.clear();
  EXPECT_TRUE(eventually([&] { return !thrown_by([&] { client{server.url()}; }); }));
}

}  // namespace
}  // namespace afar::test
