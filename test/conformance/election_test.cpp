// Elections. A campaign is also among the locks of locks_test.cpp.
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/renewed_lease.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <afar/election.hpp>

#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <vector>

namespace afar::test {
namespace {

class elections : public engine_test {
 protected:
  void SetUp() override { need<election>("election"); }
};

TEST_P(elections, have_one_leader) {
  election mine{one, name};
  election theirs{two, name};
  const hold lead = mine.campaign("me");
  EXPECT_TRUE(lead);
  EXPECT_FALSE(theirs.try_campaign_for(10ms, "they"));
  EXPECT_EQ(theirs.current()->value, "me");
}

TEST_P(elections, have_no_leader_before_a_campaign_and_after_resignation) {
  election mine{one, name};
  const election theirs{two, name};
  EXPECT_FALSE(theirs.current());
  hold lead = mine.campaign("me");
  EXPECT_TRUE(theirs.current());
  mine.resign(lead);
  EXPECT_FALSE(theirs.current());
  EXPECT_FALSE(lead);
}

TEST_P(elections, elect_in_the_order_of_campaigns) {
  if (without_line()) return;
  const std::vector<client> candidates{connect(), connect(), connect()};
  std::mutex order;
  std::vector<std::size_t> leaders;
  std::vector<std::future<void>> campaigns;
  hold first = election(one, name).campaign();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    campaigns.push_back(start([&, i] {
      const hold lead = election(candidates[i], name).campaign();
      const std::lock_guard guard{order};
      leaders.push_back(i);
    }));
    EXPECT_TRUE(has_waited(candidates[i]));
  }
  first.release();
  for (auto& c : campaigns) c.get();
  EXPECT_EQ(leaders, (std::vector<std::size_t>{0, 1, 2}));
}

TEST_P(elections, have_terms_that_grow) {
  election mine{one, name};
  election theirs{two, name};
  std::uint64_t last = 0;
  for (int round = 0; round < 5; ++round) {
    hold lead = (round % 2 ? mine : theirs).campaign();
    EXPECT_GT(lead.token(), last);
    last = lead.token();
    EXPECT_EQ(mine.current()->term, last);
    lead.release();
  }
}

TEST_P(elections, show_what_the_leader_proclaims) {
  election mine{one, name};
  const election theirs{two, name};
  hold lead = mine.campaign("first");
  EXPECT_EQ(theirs.current()->value, "first");
  mine.proclaim(lead, "second");
  EXPECT_EQ(theirs.current()->value, "second");
  EXPECT_EQ(theirs.current()->term, lead.token());
}

TEST_P(elections, carry_any_bytes_as_a_value) {
  election mine{one, name};
  const std::string value{"\0\r\n\xff{}\"'", 8};
  const hold lead = mine.campaign(value);
  EXPECT_EQ(election(two, name).current()->value, value);
}

TEST_P(elections, carry_values_of_up_to_512_bytes) {
  election mine{one, name};
  const std::string longest(512, 'v');
  hold lead = mine.campaign(longest);
  EXPECT_EQ(election(two, name).current()->value, longest);
  EXPECT_EQ(thrown_by([&] { mine.proclaim(lead, longest + "v"); }), errc::bad_argument);
  std::error_code ec;
  EXPECT_FALSE(mine.campaign(longest + "v", {}, ec));
  EXPECT_EQ(ec, errc::bad_argument);
}

TEST_P(elections, refuse_a_proclamation_of_one_that_leads_no_longer) {
  election mine{one, name};
  hold lead = mine.campaign("old", {.lease = 50ms, .renew = renewal::off});
  election theirs{two, name};
  const hold next = theirs.try_campaign_for(long_time, "new");
  std::error_code ec;
  mine.proclaim(lead, "still me", ec);
  EXPECT_EQ(ec, errc::lost);
  EXPECT_EQ(theirs.current()->value, "new");
}

TEST_P(elections, keep_what_was_proclaimed_through_renewals) {
  const client c = connect({.lease = renewed_lease});
  election mine{c, name};
  hold lead = mine.campaign("first");
  mine.proclaim(lead, "second");
  const auto before = lead.valid_until();
  EXPECT_TRUE(eventually([&] { return lead.valid_until() > before + renewed_lease / 2; }));
  EXPECT_EQ(election(two, name).current()->value, "second");
}

// What an observer sees, until its destructor.
class watcher {
 public:
  watcher(const client& c, const std::string& name)
      : thread_{[this, c, name](const std::stop_token& stop) {
          election(c, name).observe(stop, [this](const std::optional<leader>& l) {
            const std::lock_guard guard{mutex_};
            seen_.push_back(l);
          });
        }} {}

  std::vector<std::optional<leader>> seen() const {
    const std::lock_guard guard{mutex_};
    return seen_;
  }
  bool sees(const std::string& value) const {
    return eventually([&] {
      const auto all = seen();
      return !all.empty() && all.back() && all.back()->value == value;
    });
  }
  bool sees_nobody() const {
    return eventually([&] {
      const auto all = seen();
      return !all.empty() && !all.back();
    });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::optional<leader>> seen_;
  std::jthread thread_;  // last: it uses the others
};

TEST_P(elections, tell_observers_of_every_change) {
  const watcher watching{two, name};
  EXPECT_TRUE(watching.sees_nobody());
  election mine{one, name};
  hold lead = mine.campaign("first");
  EXPECT_TRUE(watching.sees("first"));
  mine.proclaim(lead, "second");
  EXPECT_TRUE(watching.sees("second"));
  lead.release();
  EXPECT_TRUE(watching.sees_nobody());
}

TEST_P(elections, tell_observers_terms_in_order) {
  const watcher watching{two, name};
  election mine{one, name};
  for (int round = 0; round < 10; ++round) const hold lead = mine.campaign(std::to_string(round));
  const hold last = mine.campaign("last");
  EXPECT_TRUE(watching.sees("last"));
  std::uint64_t term = 0;
  for (const auto& l : watching.seen()) {
    if (!l) continue;
    EXPECT_GE(l->term, term);
    term = l->term;
  }
}

TEST_P(elections, tell_an_observer_of_the_same_client) {
  const watcher watching{one, name};
  const hold lead = election(one, name).campaign("me");
  EXPECT_TRUE(watching.sees("me"));
}

TEST_P(elections, end_observing_by_a_stop) {
  std::stop_source stop;
  auto observing = start(
      [&] { election(one, name).observe(stop.get_token(), [](const std::optional<leader>&) {}); });
  hold_still(10ms);
  stop.request_stop();
  EXPECT_EQ(observing.wait_for(long_time), std::future_status::ready);
}

TEST_P(elections, lead_until_stopped) {
  std::stop_source stop;
  std::atomic<bool> reigns{false};
  auto leading = start([&] {
    election(one, name).lead(
        stop.get_token(),
        [&](hold& lead, const std::stop_token& end) {
          EXPECT_TRUE(lead);
          reigns = true;
          EXPECT_TRUE(eventually([&] { return end.stop_requested(); }, 20s));
        },
        "me");
  });
  EXPECT_TRUE(eventually([&] { return reigns.load(); }));
  EXPECT_EQ(election(two, name).current()->value, "me");
  stop.request_stop();
  leading.get();
  EXPECT_TRUE(eventually([&] { return !election(two, name).current(); }));
}

TEST_P(elections, lead_again_after_a_reign_has_returned) {
  std::stop_source stop;
  std::vector<std::uint64_t> terms;
  election(one, name).lead(stop.get_token(), [&](hold& lead, const std::stop_token&) {
    terms.push_back(lead.token());
    if (terms.size() == 3) stop.request_stop();
  });
  ASSERT_EQ(terms.size(), 3U);
  EXPECT_LT(terms[0], terms[1]);
  EXPECT_LT(terms[1], terms[2]);
}

TEST_P(elections, stop_waiting_to_lead) {
  const hold other = election(one, name).campaign();
  std::stop_source stop;
  auto leading = start([&] {
    election(two, name).lead(stop.get_token(),
                             [](hold&, const std::stop_token&) { ADD_FAILURE() << "led"; });
  });
  EXPECT_TRUE(has_waited(two));
  stop.request_stop();
  EXPECT_NO_THROW(leading.get());
}

TEST_P(elections, let_a_reign_end_by_an_exception_and_resign) {
  std::stop_source stop;
  EXPECT_THROW(election(one, name).lead(
                   stop.get_token(),
                   [](hold&, const std::stop_token&) { throw std::runtime_error{"a bad reign"}; }),
               std::runtime_error);
  EXPECT_TRUE(election(two, name).try_campaign_for(long_time));
}

AFAR_FOR_EVERY_ENGINE(elections);

}  // namespace
}  // namespace afar::test
