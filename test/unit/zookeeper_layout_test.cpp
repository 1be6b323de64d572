// The nodes that other clients see, and what they do to ours.
#include "zookeeper_fixture.hpp"

#include <gmock/gmock.h>

namespace afar::test {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;
using ::testing::UnorderedElementsAre;
namespace ask = engines::zookeeper::ask;
using engines::zookeeper::node_mode;

constexpr const char* guid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
std::string like(const std::string& tail) { return "_c_" + std::string{guid} + "-" + tail; }

class zookeeper_layout : public zookeeper_test {
 protected:
  // A node as a Java or Python client would make it.
  std::string foreign(const std::string& node, const std::string& below = {}) {
    return raw
        .ask(ask::create(path(below) + "/" + node, "127.0.0.1", node_mode::ephemeral_sequential))
        .text;
  }
};

TEST_F(zookeeper_layout, of_a_mutex_is_InterProcessMutex) {
  const hold mine = mutex(other, name).acquire();
  EXPECT_THAT(nodes(), ElementsAre(MatchesRegex(like("lock-[0-9]{10}"))));
}

TEST_F(zookeeper_layout, of_a_shared_mutex_is_InterProcessReadWriteLock) {
  hold reader = shared_mutex(other, name).acquire_shared();
  EXPECT_THAT(nodes(), ElementsAre(MatchesRegex(like("__READ__[0-9]{10}"))));
  reader.release();
  const hold writer = shared_mutex(other, name).acquire();
  EXPECT_THAT(nodes(), ElementsAre(MatchesRegex(like("__WRIT__[0-9]{10}"))));
}

TEST_F(zookeeper_layout, of_a_leased_semaphore_is_InterProcessSemaphoreV2) {
  const hold mine = leased_semaphore(other, name, 5).acquire(2);
  EXPECT_THAT(nodes(), ElementsAre("leases", "locks"));
  EXPECT_TRUE(raw.children(path("/locks")).empty());
  EXPECT_THAT(raw.children(path("/leases")), ElementsAre(MatchesRegex(like("lease-[0-9]{10}")),
                                                         MatchesRegex(like("lease-[0-9]{10}"))));
}

TEST_F(zookeeper_layout, of_an_election_is_LeaderLatch) {
  const hold lead = election(other, name).campaign("me");
  EXPECT_THAT(nodes(), ElementsAre(MatchesRegex(like("latch-[0-9]{10}"))));
}

TEST_F(zookeeper_layout, of_a_counter_is_DistributedAtomicLong) {
  counter c{other, name};
  c.store(-2);
  EXPECT_EQ(raw.data(path()), std::string("\xff\xff\xff\xff\xff\xff\xff\xfe", 8));
  raw.ask(ask::set(path(), std::string("\0\0\0\0\0\0\1\2", 8)));
  EXPECT_EQ(c.load(), 258);
}

TEST_F(zookeeper_layout, of_a_counter_of_4_bytes_is_SharedCount) {
  const client narrow{server().url() + "/test?width=4"};
  counter c{narrow, name};
  c.store(-2);
  EXPECT_EQ(raw.data(path()), "\xff\xff\xff\xfe");
  counter(other, name).fetch_add(3);
  EXPECT_EQ(raw.data(path()), std::string("\0\0\0\1", 4)) << "it keeps its width";
  EXPECT_EQ(thrown_by([&] { c.store(std::int64_t{1} << 40); }), errc::overflow);
}

TEST_F(zookeeper_layout, waits_for_nodes_of_Curator_and_of_kazoo) {
  mutex m{other, name};
  m.acquire().release();
  for (const std::string node : {"_c_4f456e98-6515-45cf-ad1f-f2ffbdb4fe28-lock-",
                                 "0123456789abcdef0123456789abcdef__lock__"}) {
    const std::string theirs = foreign(node);
    EXPECT_FALSE(m.try_acquire()) << node;
    auto waiter = start([&] { return m.acquire().valid(); });
    EXPECT_TRUE(eventually([&] { return nodes().size() == 2; }));
    raw.ask(ask::remove(theirs));
    EXPECT_TRUE(waiter.get());
  }
}

TEST_F(zookeeper_layout, shows_who_a_peer_is) {
  mutex(other, name).acquire().release();
  foreign("_c_4f456e98-6515-45cf-ad1f-f2ffbdb4fe28-lock-");
  const auto seen = inspect(other, name);
  ASSERT_TRUE(seen && seen->holders.size() == 1);
  EXPECT_EQ(seen->holders[0].host, "127.0.0.1");
  EXPECT_TRUE(evict(other, name, seen->holders[0].token));
  EXPECT_TRUE(nodes().empty());
}

// CURATOR-621: a queued writer got in although the read lock was held.
TEST_F(zookeeper_layout, CURATOR_621_a_downgrade_keeps_its_place_before_a_queued_writer) {
  shared_mutex mine{other, name};
  hold h = mine.acquire();
  auto writer = start([&] { return shared_mutex(through, name).acquire().token(); });
  ASSERT_TRUE(has_waited(through));
  mine.downgrade(h);
  EXPECT_THAT(nodes(), UnorderedElementsAre(MatchesRegex(like("__READ__0000000000")),
                                            MatchesRegex(like("__WRIT__0000000001"))));
  EXPECT_EQ(writer.wait_for(50ms), std::future_status::timeout);
  const auto token = h.token();
  h.release();
  EXPECT_GT(writer.get(), token);
}

TEST_F(zookeeper_layout, goes_on_when_the_folder_vanishes) {
  for (int round = 0; round < 5; ++round) {
    mutex(other, name).acquire().release();
    ASSERT_TRUE(raw.ask(ask::remove(path())).ok());
  }
  hold mine = mutex(other, name).acquire();
  auto waiter = start([&] { return mutex(through, name).acquire().valid(); });
  ASSERT_TRUE(has_waited(through));
  mine.release();
  EXPECT_TRUE(waiter.get());
}

TEST_F(zookeeper_layout, takes_names_as_paths_when_asked_to) {
  const client java{server().url() + "/test?paths=curator"};
  const hold mine = mutex(java, name + "/a/b").acquire();
  EXPECT_EQ(raw.children(path("/a/b")).size(), 1U);
  EXPECT_EQ(thrown_by([&] { mutex(java, name + "//b").lock(); }), errc::bad_argument);
  EXPECT_EQ(thrown_by([&] { mutex(java, "../" + name).lock(); }), errc::bad_argument);
}

TEST_F(zookeeper_layout, of_a_mutex_can_be_InterProcessSemaphoreMutex) {
  const client java{server().url() + "/test?layout=semaphore-mutex"};
  const hold mine = mutex(java, name).acquire();
  EXPECT_EQ(raw.children(path("/leases")).size(), 1U);
  EXPECT_FALSE(mutex(java, name).try_acquire());
}

// CURATOR-716: a crowd in one line. Every release wakes one of them.
TEST_F(zookeeper_layout, wakes_one_waiter_per_release) {
  constexpr int crowd = 20;
  std::vector<client> clients;
  for (int i = 0; i < crowd; ++i) clients.push_back(connect(server().url()));
  hold mine = mutex(other, name).acquire();
  std::vector<std::future<bool>> waiting;
  for (const client& c : clients) {
    waiting.push_back(start([&c, this] { return mutex(c, name).acquire().valid(); }));
    ASSERT_TRUE(has_waited(c));
  }
  EXPECT_EQ(nodes().size(), crowd + 1U);
  mine.release();
  for (auto& w : waiting) EXPECT_TRUE(w.get());
  // Asked when it came, before it slept, and when it was woken; a crowd that wakes together asks
  // once for every one before it.
  for (const client& c : clients) EXPECT_LE(c.stats().steps, 8U);
}

// A watch could not be hung there, as the node stands already: the next look took that for a watch, and crashed.
TEST_F(zookeeper_layout, a_node_ready_that_was_left_over_is_removed_by_who_comes_to_the_barrier) {
  const client before = connect(server().url());
  EXPECT_FALSE(barrier(before, name, 2).arrive_and_wait_for(10ms)) << "makes the folder";
  ASSERT_TRUE(raw.ask(ask::create(path() + "/ready", {}, node_mode::persistent)).ok());
  auto first = std::async(std::launch::async, [&] { barrier{other, name, 2}.arrive_and_wait(); });
  EXPECT_TRUE(eventually([&] { return nodes().size() == 1 && nodes().front() != "ready"; }));
  barrier{other, name, 2}.arrive_and_wait();
  first.get();
}

}  // namespace
}  // namespace afar::test
