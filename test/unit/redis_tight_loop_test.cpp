// Who takes and frees a lock again and again: the release goes with the next request.
#include "redis_fixture.hpp"

#include <afar/afar.hpp>

#include <string>

namespace afar::test {
namespace {

class redis_tight_loop : public redis_test {
 protected:
  // How often the server has read from a connection.
  static std::uint64_t reads() {
    const std::string info = server->ask({"INFO", "stats"});
    const std::string_view key = "total_reads_processed:";
    return std::stoull(info.substr(info.find(key) + key.size()));
  }
  bool is_free() const { return server->ask({"EXISTS", name}) == ":0\r\n"; }

  const client one{server->url()};
  mutex lock{one, name};

  void loop(int pairs) {
    for (int i = 0; i < pairs; ++i) {
      lock.lock();
      lock.unlock();
    }
  }
};

TEST_F(redis_tight_loop, sends_a_release_and_the_next_claim_as_one) {
  constexpr int pairs = 500;
  std::uint64_t fewest = 2 * pairs;
  // A thread that is stopped for a moment is not in a tight loop, so it may take a few rounds.
  EXPECT_TRUE(eventually(
      [&] {
        const auto before = reads();
        loop(pairs);
        fewest = std::min(fewest, reads() - before);
        return fewest < pairs * 3 / 2;
      },
      30s))
      << fewest << " reads for " << pairs << " pairs";
}

TEST_F(redis_tight_loop, leaves_the_last_release_to_nobody) {
  for (int round = 0; round < 20; ++round) {
    loop(50);
    ASSERT_TRUE(eventually([&] { return is_free(); }, 5s)) << round;  // its lease is 30 s
  }
}

TEST_F(redis_tight_loop, hands_over_to_who_waits) {
  const client two{server->url()};
  mutex other{two, name};
  loop(50);
  lock.lock();
  std::jthread waits{[&] {
    const std::scoped_lock guard{other};
    EXPECT_TRUE(other.token() > 0);
  }};
  EXPECT_TRUE(eventually([&] { return two.stats().waited == 1; }));
  lock.unlock();  // and nothing after it
  EXPECT_TRUE(eventually([&] { return two.stats().acquired == 1; }, 5s));
}

TEST_F(redis_tight_loop, leaves_nothing_when_the_client_closes) {
  {
    const client brief{server->url()};
    mutex m{brief, name};
    for (int i = 0; i < 50; ++i) {
      m.lock();
      m.unlock();
    }
  }
  EXPECT_TRUE(is_free());
}

TEST_F(redis_tight_loop, awaited_releases_are_over_when_they_return) {
  for (int i = 0; i < 50; ++i) {
    hold h = lock.acquire();
    h.release();
    ASSERT_TRUE(i < 20 || is_free()) << i;
  }
}

}  // namespace
}  // namespace afar::test
