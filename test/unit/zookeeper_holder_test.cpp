// What others can do to a holder, and what a holder can prove: questions to release, evictions, a check
// of its node in a transaction; and what a person is told of the servers.
#include "zookeeper_fixture.hpp"

#include <afar/zookeeper.hpp>

#include <gmock/gmock.h>
#include <unistd.h>

namespace afar::test {
namespace {

using ::testing::HasSubstr;
namespace ask = engines::zookeeper::ask;
using engines::zookeeper::node_mode;

class zookeeper_holder : public zookeeper_test {
 protected:
  // Renews often.
  const client quick{server().url() + "/test?session=6s", {.lease = 3s}};

  bool is_asked(const hold& h) {
    return eventually([&] { return h.lost().stop_requested(); }) && h.why() == loss_reason::asked;
  }
};

// Curator's Revoker writes this into the holder's node.
TEST_F(zookeeper_holder, that_is_asked_for_its_lock_by_Curator_is_told) {
  hold mine = mutex(quick, name).acquire();
  ASSERT_TRUE(eventually([&] { return quick.stats().renewed > 0; }));
  raw.ask(ask::set(path("/" + nodes().front()), "__REVOKE__"));
  EXPECT_TRUE(is_asked(mine));
  EXPECT_EQ(nodes().size(), 1U) << "it is still held";
  mine.release();
  EXPECT_TRUE(nodes().empty());
}

TEST_F(zookeeper_holder, that_is_asked_before_its_first_renewal_is_told_with_it) {
  const hold mine = mutex(quick, name).acquire();
  raw.ask(ask::set(path("/" + nodes().front()), "__REVOKE__"));
  EXPECT_TRUE(is_asked(mine));
}

// The question stands in the place of what the holder says of itself, which it writes again.
TEST_F(zookeeper_holder, that_was_asked_is_still_shown_and_can_be_asked_again_or_evicted) {
  shared_mutex m{quick, name};
  hold mine = m.acquire();
  m.downgrade(mine);  // its token is not that of its node
  const auto before = inspect(other, name)->holders.at(0);
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(ask_back(other, name, mine.token()));
    EXPECT_TRUE(is_asked(mine));
    EXPECT_TRUE(eventually([&] {
      const auto seen = inspect(other, name)->holders.at(0);
      return seen.owner == before.owner && seen.pid == ::getpid() && seen.token == mine.token();
    }));
  }
  EXPECT_TRUE(mine.valid()) << "it is still held";
  EXPECT_TRUE(evict(other, name, mine.token()));
  EXPECT_TRUE(shared_mutex(other, name).try_acquire_for(long_time));
}

TEST_F(zookeeper_holder, is_asked_by_Curators_word_in_its_node) {
  mutex(other, name).acquire().release();
  const std::string java =
      raw.ask(ask::create(path("/_c_4f456e98-6515-45cf-ad1f-f2ffbdb4fe28-lock-"), "10.0.0.7",
                          node_mode::ephemeral_sequential))
          .text;
  const auto token = inspect(other, name)->holders.at(0).token;
  EXPECT_FALSE(ask_back(other, name, token + 1)) << "another hold is meant";
  EXPECT_EQ(raw.data(java), "10.0.0.7");
  EXPECT_TRUE(ask_back(other, name, token));
  EXPECT_EQ(raw.data(java), "__REVOKE__");
  EXPECT_EQ(inspect(other, name)->holders.at(0).host, "");
  EXPECT_TRUE(ask_back(other, name, token)) << "once more, as after a lost answer";
}

TEST_F(zookeeper_holder, of_permits_or_on_another_engine_cannot_be_asked) {
  const hold permits = leased_semaphore(quick, name, 3).acquire(2);
  EXPECT_EQ(thrown_by([&] { ask_back(other, name, permits.token()); }), errc::unsupported);
  const client here{"memory:zookeeper_holder"};
  const hold local = mutex(here, name).acquire();
  std::error_code ec;
  EXPECT_FALSE(ask_back(here, name, local.token(), ec));
  EXPECT_EQ(ec, errc::unsupported);
}

// multi(check): the write happens while the lock is held, or not at all.
TEST_F(zookeeper_holder, writes_only_while_it_holds_by_a_check_of_its_node) {
  const std::string data = "/test/data." + name;
  const hold mine = mutex(through, name).acquire();  // its folders come with it
  ASSERT_TRUE(raw.ask(ask::create(data, "old", node_mode::persistent)).ok());
  const auto write = [&](const std::string& node, const std::string& text) {
    return raw.ask(ask::multi({ask::check(node), ask::set(data, text)})).rc;
  };
  const std::string node = zookeeper::node_of(through, mine);
  EXPECT_EQ(node, path("/" + nodes().front()));
  EXPECT_EQ(write(node, "mine"), ZOK);
  EXPECT_EQ(raw.data(data), "mine");

  proxy.cut();
  proxy.end_session();  // the holder does not know it yet
  const hold theirs = mutex(other, name).try_acquire_for(long_time);
  ASSERT_TRUE(theirs);
  EXPECT_EQ(write(zookeeper::node_of(other, theirs), "theirs"), ZOK);
  EXPECT_EQ(write(node, "late"), ZNONODE);
  EXPECT_EQ(raw.data(data), "theirs");
  EXPECT_EQ(thrown_by([&] { zookeeper::node_of(other, mine); }), errc::lost);
  proxy.mend();
}

TEST_F(zookeeper_holder, has_a_node_whatever_it_holds_but_not_on_another_engine) {
  const hold permits = leased_semaphore(other, name, 3).acquire(2);
  EXPECT_TRUE(raw.ask(ask::exists(zookeeper::node_of(other, permits))).ok());
  const client prefixed{server().url() + "/test?prefix=p."};
  const hold leads = election(prefixed, name).campaign("me");
  EXPECT_TRUE(zookeeper::node_of(prefixed, leads).starts_with("/test/p." + name + "/"));
  const client here{"memory:zookeeper_holder"};
  const hold local = mutex(here, name).acquire();
  EXPECT_EQ(thrown_by([&] { zookeeper::node_of(here, local); }), errc::unsupported);
}

TEST_F(zookeeper_holder, learns_from_the_doctor_which_session_the_servers_grant) {
  const auto row = [](const client& c) {
    for (const finding& f : examine(c))
      if (f.topic == "session") return f;
    return finding{};
  };
  EXPECT_THAT(row(other).text, HasSubstr("6000 ms"));
  // These servers grant at most 60 s, whatever is asked for.
  const finding longest = row(client{server().url() + "/test?session=300s"});
  EXPECT_THAT(longest.text, HasSubstr("60000 ms"));
  EXPECT_THAT(longest.text, HasSubstr("asked for 300000 ms"));
}

}  // namespace
}  // namespace afar::test
