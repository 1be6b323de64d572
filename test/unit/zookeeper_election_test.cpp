// Curator's LeaderLatch has had two leaders at a time in five ways; here they are played to afar's.
#include "zookeeper_fixture.hpp"

#include <atomic>
#include <mutex>
#include <set>
#include <stop_token>

namespace afar::test {
namespace {

class zookeeper_election : public zookeeper_test {
 protected:
  static constexpr auto soon = 60s;  // servers start anew, and sessions may have to end before

  void both(void (zookeeper_proxy::*act)()) {
    (proxy.*act)();
    (second_proxy.*act)();
  }
  auto candidate(const client& c) {
    return start([&c, this] { return election(c, name).campaign("me"); });
  }
  // Of our own name, by their owners' sessions.
  bool stands_once(std::size_t nodes_wanted) {
    return eventually([&] { return nodes().size() == nodes_wanted; }, soon);
  }

  zookeeper_proxy second_proxy{server().port()};
  client second = connect(second_proxy.url());
};

// Z-1 (CURATOR-504, #1024): all reconnect at once, and each made its node anew.
TEST_F(zookeeper_election, Z_1_reconnecting_changes_neither_the_leader_nor_the_nodes) {
  hold leads = election(through, name).campaign("first");
  auto next = candidate(second);
  ASSERT_TRUE(has_waited(second));
  const auto before = nodes();
  ASSERT_EQ(before.size(), 2U);
  for (int round = 0; round < 3; ++round) {
    both(&zookeeper_proxy::cut);
    both(&zookeeper_proxy::mend);
    // Both are connected again when they can do something.
    for (const client* c : {&through, &second})
      EXPECT_TRUE(mutex(*c, name + "x").try_acquire_for(long_time));
    EXPECT_EQ(nodes(), before);
    EXPECT_TRUE(leads.valid());
  }
  EXPECT_EQ(next.wait_for(0ms), std::future_status::timeout);
  const auto term = leads.token();
  leads.release();
  EXPECT_GT(next.get().token(), term);
}

// Z-2 (CURATOR-620, #1137): the old session's node was taken for a new term.
TEST_F(zookeeper_election, Z_2_a_leader_whose_session_expired_leads_again_only_after_the_next) {
  const hold first = election(through, name).campaign("first");
  auto next = candidate(second);
  ASSERT_TRUE(has_waited(second));
  proxy.cut();
  proxy.end_session();
  hold successor = next.get();
  EXPECT_GT(successor.token(), first.token());
  proxy.mend();
  auto again = candidate(through);
  EXPECT_TRUE(eventually([&] { return !first.valid(); }, soon));
  EXPECT_TRUE(stands_once(2)) << "one node each";
  EXPECT_TRUE(successor.valid());
  EXPECT_EQ(again.wait_for(0ms), std::future_status::timeout);
  const auto term = successor.token();
  successor.release();
  EXPECT_GT(again.get().token(), term);
}

// Z-3 (CURATOR-644, #1160): a candidate that did not find its node made nodes for ever.
TEST_F(zookeeper_election, Z_3_a_candidate_whose_node_has_gone_stands_again_once) {
  hold leads = election(through, name).campaign("first");
  auto next = candidate(second);
  ASSERT_TRUE(has_waited(second));
  const std::string own = nodes().back().ends_with("0000000001") ? nodes().back() : nodes().front();
  second_proxy.cut();
  ASSERT_TRUE(raw.ask(engines::zookeeper::ask::remove(path("/" + own))).ok());
  second_proxy.mend();
  ASSERT_TRUE(stands_once(2));
  EXPECT_TRUE(leads.valid());
  EXPECT_EQ(next.wait_for(0ms), std::future_status::timeout);
  leads.release();
  EXPECT_TRUE(next.get().valid());
}

// Z-4 (CURATOR-653, #1169): the servers are away for a moment, and all come back at once. A leader may
// not know yet that it is none, but then its hold is not valid.
TEST_F(zookeeper_election, Z_4_one_leads_at_a_time_through_restarts_of_the_server) {
  std::mutex m;
  std::set<const hold*> reigning;
  std::uint64_t last = 0;
  std::atomic<int> terms{0};
  const auto reign = [&](const hold& h) {
    {
      const std::lock_guard lock{m};
      for (const hold* other_one : reigning) EXPECT_FALSE(other_one->valid() && h.valid());
      EXPECT_GT(h.token(), last);
      last = h.token();
      reigning.insert(&h);
    }
    ++terms;
    const std::lock_guard lock{m};
    reigning.erase(&h);
  };
  std::stop_source enough;
  std::vector<std::future<void>> all;
  for (const client* c : {&through, &second, &other})
    all.push_back(start([&, c] {
      while (!enough.stop_requested()) {
        try {
          if (const hold h = election(*c, name).try_campaign_for(100ms)) reign(h);
        } catch (const lock_error& e) {  // no server at this moment
          EXPECT_TRUE(e.code() == errc::unavailable || e.code() == errc::unknown_outcome)
              << e.what();
        }
      }
    }));
  for (int restart = 0; restart < 3; ++restart) {
    const int before = terms;
    EXPECT_TRUE(eventually([&] { return terms > before + 20; }, soon)) << "it goes on";
    if (restart == 2) break;
    server().stop();
    server().start();
  }
  enough.request_stop();
  for (auto& one : all) one.get();
}

// Z-5 (CURATOR-696, #1211): the server stands still until the session is over; then the node is there a
// moment longer.
TEST_F(zookeeper_election, Z_5_an_old_node_at_a_server_that_is_back_makes_no_leader) {
  const hold first = election(through, name).campaign("first");
  server().suspend();
  EXPECT_TRUE(eventually([&] { return first.lost().stop_requested(); }, soon));
  server().resume();
  auto again = candidate(through);
  auto rival = candidate(second);
  ASSERT_TRUE(eventually(
      [&] {
        return again.wait_for(0ms) == std::future_status::ready ||
               rival.wait_for(0ms) == std::future_status::ready;
      },
      soon));
  auto& winner = again.wait_for(0ms) == std::future_status::ready ? again : rival;
  auto& loser = &winner == &again ? rival : again;
  hold leads = winner.get();
  EXPECT_GT(leads.token(), first.token());
  EXPECT_TRUE(stands_once(2)) << "the old node is gone";
  EXPECT_EQ(loser.wait_for(0ms), std::future_status::timeout);
  const auto term = leads.token();
  leads.release();
  EXPECT_GT(loser.get().token(), term);
}

}  // namespace
}  // namespace afar::test
