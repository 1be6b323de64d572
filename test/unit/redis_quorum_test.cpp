// Independent servers that vote: minorities that fail, votes that are forgotten, tokens that grow.
#include "redis_fixture.hpp"
#include "support/errors.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace afar::test {
namespace {

class redis_quorum : public ::testing::Test {
 protected:
  void start(int n, const std::vector<std::string>& options = keep_votes) {
    for (int i = 0; i < n; ++i) servers.push_back(std::make_unique<redis_server>(options));
  }
  std::string url(const std::string& query = "") const {
    std::string hosts;
    for (const auto& s : servers) (hosts += hosts.empty() ? "" : ",") += s->address();
    return "redis+quorum://" + hosts + query;
  }
  // How many servers have a key at this name.
  std::size_t votes(const std::string& name) const {
    std::size_t n = 0;
    for (const auto& s : servers) n += s->ask({"EXISTS", name}) == ":1\r\n" ? 1 : 0;
    return n;
  }

  // Up for longer than 5 s, all of them.
  bool all_settled() const {
    return eventually(
        [&] {
          return std::ranges::all_of(servers, [](const auto& s) {
            const std::string info = s->ask({"INFO", "server"});
            const auto at = info.find("uptime_in_seconds:");
            return at != std::string::npos && std::stoi(info.substr(at + 18)) > 5;
          });
        },
        20s);
  }

  inline static const std::vector<std::string> keep_votes{"--appendonly", "yes", "--appendfsync",
                                                          "always"};
  std::vector<std::unique_ptr<redis_server>> servers;
};

TEST_F(redis_quorum, excludes_with_a_minority_away) {
  start(3);
  const client one{url()};
  const client two{url()};
  mutex a{one, "m"};
  mutex b{two, "m"};
  {
    const std::scoped_lock guard{a};
    EXPECT_FALSE(b.try_lock());
  }
  servers[1]->stop();
  {
    const std::scoped_lock guard{b};
    EXPECT_FALSE(a.try_lock());
  }
  EXPECT_NO_THROW(client{url()}) << "opens with a minority away";
  const auto rows = examine(one);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].text, "2 of 3 servers answer, 2 are needed");
  EXPECT_EQ(rows[0].how, finding::grade::warning);
  servers[2]->stop();
  client_options impatient;
  impatient.patience = 100ms;
  const auto f = failure_of([&] { client{url(), impatient}; });
  EXPECT_EQ(f.code, errc::unavailable) << f.message;
  EXPECT_NE(f.message.find("1 of 3"), std::string::npos) << f.message;
}

TEST_F(redis_quorum, leaves_no_vote_behind) {
  start(3);
  const client one{url()};
  const client two{url()};
  {
    const hold h = mutex(one, "m").acquire();
    EXPECT_TRUE(eventually([&] { return votes("m") == 3; }));
    EXPECT_FALSE(mutex(two, "m").try_lock());
    EXPECT_EQ(votes("m"), 3U);
  }
  EXPECT_TRUE(eventually([&] { return votes("m") == 0; }));
  // A vote that was lost: the one that was given is returned.
  for (const auto& s : {servers[0].get(), servers[1].get()})
    s->ask({"SET", "m", "a peer's", "PX", "60000"});
  EXPECT_FALSE(mutex(one, "m").try_lock());
  EXPECT_TRUE(eventually([&] { return votes("m") == 2; }));
}

TEST_F(redis_quorum, lets_many_work_one_after_the_other) {
  start(5);
  constexpr int clients = 4;
  constexpr int rounds = 10;
  std::atomic<int> inside{0};
  std::atomic<std::uint64_t> last{0};
  std::vector<std::thread> threads;
  for (int c = 0; c < clients; ++c)
    threads.emplace_back([&] {
      const client own{url()};
      mutex m{own, "m"};
      for (int i = 0; i < rounds; ++i) {
        const std::scoped_lock guard{m};
        EXPECT_EQ(++inside, 1);
        EXPECT_GT(m.token(), last.exchange(m.token()));
        --inside;
      }
    });
  for (auto& t : threads) t.join();
}

// The server that is ahead gives a large token and is away the next time.
TEST_F(redis_quorum, tokens_grow_although_majorities_differ) {
  start(3);
  const client c{url()};
  const std::uint64_t ahead = std::uint64_t{1} << 52;
  servers[0]->ask({"SET", "redisson_lock_token:{m}", std::to_string(ahead)});
  servers[2]->suspend();
  const std::uint64_t first = mutex(c, "m").acquire().token();
  EXPECT_GT(first, ahead);
  servers[2]->resume();
  servers[0]->stop();
  EXPECT_GT(mutex(c, "m").acquire().token(), first);
}

TEST_F(redis_quorum, readers_share_and_upgrade) {
  start(3);
  const client one{url()};
  const client two{url()};
  shared_mutex a{one, "s"};
  shared_mutex b{two, "s"};
  a.lock_shared();
  EXPECT_TRUE(b.try_lock_shared());
  EXPECT_FALSE(b.try_lock());
  b.unlock_shared();
  a.unlock_shared();
  EXPECT_TRUE(b.try_lock_for(long_time));
  EXPECT_FALSE(a.try_lock_shared());
  b.unlock();
}

// Of two permits three could each have a majority of three servers.
TEST_F(redis_quorum, never_gives_more_permits_than_there_are) {
  start(3);
  std::vector<std::unique_ptr<client>> clients;
  std::vector<hold> holds;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<client>(url()));
    holds.push_back(leased_semaphore(*clients.back(), "p", 2).try_acquire());
  }
  EXPECT_EQ(std::ranges::count_if(holds, [](const hold& h) { return h.valid(); }), 2);
}

TEST_F(redis_quorum, says_why_it_has_no_line_and_no_numbers) {
  start(3);
  const client c{url()};
  for (const auto& f :
       {failure_of([&] { fair_mutex{c, "f"}; }), failure_of([&] { counter{c, "c"}; }),
        failure_of([&] { barrier{c, "b", 2}; }), failure_of([&] { stock{c, "k"}; })}) {
    EXPECT_EQ(f.code, errc::unsupported);
    EXPECT_NE(f.message.find("a majority of servers agrees on who holds"), std::string::npos)
        << f.message;
  }
  EXPECT_EQ(failure_of([&] { client{"redis+quorum://a,b"}; }).code, errc::bad_url);
}

// A restart without persistence forgets a vote. It must not be given to another while the lease runs:
// the holder has a majority of the second and third server, the other would get one of the first and
// third.
TEST_F(redis_quorum, a_server_that_was_restarted_empty_has_no_vote) {
  start(3, {});
  const std::string wait = "?longest_lease=5s";  // a lease that outlasts a busy machine
  const client one{url(wait), client_options{.lease = 5s}};
  const client two{url(wait), client_options{.lease = 5s}};
  ASSERT_TRUE(all_settled());
  servers[0]->stop();
  mutex a{one, "m"};
  ASSERT_TRUE(a.try_lock_for(long_time));
  servers[0]->start();
  ASSERT_TRUE(all_settled());
  EXPECT_EQ(votes("m"), 2U);
  EXPECT_TRUE(a.valid());
  servers[2]->stop();
  servers[2]->start();
  mutex b{two, "m"};
  EXPECT_FALSE(b.try_lock()) << "a server that has forgotten its vote must not give it again";
  ASSERT_TRUE(b.try_lock_for(long_time)) << "it has a vote when the leases of before are over";
  EXPECT_FALSE(a.valid()) << "no double majority";
  b.unlock();
  a.unlock();
}

TEST(redis_restart, waits_until_old_leases_are_over) {
  redis_server s;
  const std::string url = s.url() + "?after_restart=wait&longest_lease=2s";
  const client c{url, client_options{.lease = 2s}};
  mutex m{c, "m"};
  const auto took = time_of([&] { m.lock(); });
  EXPECT_LT(took, slowness * 10s);
  m.unlock();
  s.stop();
  const auto restarted = std::chrono::steady_clock::now();
  s.start();
  m.lock();
  EXPECT_GE(std::chrono::steady_clock::now() - restarted, 1900ms) << "counted in whole seconds";
  m.unlock();
}

// Not at the next renewal, which is 10 s away.
TEST(redis_restart, is_told_to_holders_at_once) {
  redis_server s;
  const client c{s.url()};
  const hold h = mutex(c, "m").acquire();
  const counter alive{c, "alive"};
  s.stop();
  s.start();
  EXPECT_TRUE(eventually([&] { return h.lost().stop_requested(); }, 5s));
  EXPECT_EQ(h.why(), loss_reason::expired);
}

}  // namespace
}  // namespace afar::test
