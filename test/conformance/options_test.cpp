// Opening a client: options in the URL and in the struct, and what is refused.
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"

#include <afar/mutex.hpp>

#include <string>

namespace afar::test {
namespace {

class options : public engine_test {
 protected:
  failure refused(client_options o, std::string_view query = {}) const {
    return failure_of([&] { connect(o, query); });
  }
  // How long a hold of this client is valid without renewal.
  nanoseconds lease_of(const client& c) const {
    const hold h = mutex(c, fresh_name()).acquire();
    return h.valid_until() - boot_clock::now();
  }
};

TEST_P(options, refuse_a_lease_out_of_range) {
  for (const milliseconds lease : {-1ms, 0ms, 9ms, milliseconds{24h} + 1ms, milliseconds::max()})
    EXPECT_EQ(refused({.lease = lease}).code, errc::bad_argument) << lease.count();
}

TEST_P(options, accept_the_shortest_and_the_longest_lease) {
  EXPECT_NO_THROW(connect({.lease = 10ms}));
  EXPECT_NO_THROW(connect({.lease = 24h}));
}

TEST_P(options, refuse_a_lease_out_of_range_in_the_url) {
  for (const char* query : {"lease=0", "lease=9ms", "lease=25h", "lease=-1s"})
    EXPECT_TRUE(refused({}, query).code) << query;
}

TEST_P(options, may_be_given_in_the_url) {
  const auto lease = lease_of(connect({}, "lease=5s"));
  EXPECT_LE(lease, 5s);
  EXPECT_GT(lease, 1s);
}

TEST_P(options, of_the_struct_win_over_the_url) {
  const auto lease = lease_of(connect({.lease = 5s}, "lease=20s"));
  EXPECT_LE(lease, 5s);
}

TEST_P(options, have_a_lease_of_30_seconds_by_default) {
  const auto lease = lease_of(one);
  EXPECT_LE(lease, 30s);
  EXPECT_GT(lease, 25s);
}

TEST_P(options, that_are_unknown_are_refused_and_the_known_ones_named) {
  const auto failed = refused({}, "colour=red");
  EXPECT_EQ(failed.code, errc::bad_url);
  for (const char* word : {"colour", "lease", "prefix", "patience"})
    EXPECT_NE(failed.message.find(word), std::string::npos) << word << " in " << failed.message;
}

TEST_P(options, that_make_no_sense_are_refused) {
  for (const char* query : {"lease=soon", "lease=", "handoff=many", "patience=1lightyear"})
    EXPECT_TRUE(refused({}, query).code) << query;
}

TEST_P(options, fail_without_throwing_when_an_error_code_is_given) {
  std::error_code ec;
  const client none{"nosuch://server", {}, ec};
  EXPECT_EQ(ec, errc::bad_url);
  EXPECT_EQ(thrown_by([&] { mutex(none, name).lock(); }), errc::closed);
}

TEST_P(options, make_no_local_hand_off_when_it_is_off) {
  const client c = connect({.handoff = 0U});
  mutex m{c, name};
  for (int i = 0; i < 3; ++i) {
    m.lock();
    m.unlock();
  }
  EXPECT_EQ(c.stats().handed_on, 0U);
}

TEST_P(options, can_require_what_the_engine_cannot_keep) {
  const auto failed =
      refused({.require = guarantee::survives_failover | guarantee::survives_restart});
  if (failed.code) {
    EXPECT_EQ(failed.code, errc::unsupported) << failed.message;
  }
}

TEST_P(options, keep_the_margin) {
  const client c = connect({.lease = 10s, .margin = 4s});
  EXPECT_LE(lease_of(c), 6s);
}

TEST_P(options, show_the_url) { EXPECT_FALSE(one.url().empty()); }

AFAR_FOR_EVERY_ENGINE(options);

TEST(urls, of_an_unknown_scheme_are_refused) {
  const auto failed = failure_of([] { client{"nosuch://server"}; });
  EXPECT_EQ(failed.code, errc::bad_url);
  EXPECT_NE(failed.message.find("nosuch"), std::string::npos) << failed.message;
}

TEST(urls, that_are_none_are_refused) {
  for (const char* url : {"", ":", "memory", "://", "memory:x?=1", "+memory:x"})
    EXPECT_EQ(thrown_by([&] { client{url}; }), errc::bad_url) << url;
}

TEST(urls, do_not_show_their_password) {
  const auto failed = failure_of([] { client{"nosuch://user:canary@server/x?colour=red"}; });
  EXPECT_EQ(failed.message.find("canary"), std::string::npos) << failed.message;
  EXPECT_EQ(failed.resource.find("canary"), std::string::npos) << failed.resource;
}

TEST(copies_of_a_client, share_the_connection) {
  const client first{"memory:" + fresh_name()};
  client second{first};
  mutex m{first, "m"};
  m.lock();
  EXPECT_EQ(second.stats().acquired, 1U);
  second.close();
  EXPECT_FALSE(m.valid());
}

}  // namespace
}  // namespace afar::test
