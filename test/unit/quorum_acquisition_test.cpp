// A claim that is put to the vote, by voters whose answers the test gives.
#include "engine_fixture.hpp"
#include "engines/quorum/acquisition.hpp"
#include "scripted_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace afar::test {
namespace {

class quorum_acquisition : public ::testing::Test {
 protected:
  quorum_acquisition() {
    for (auto*& v : voter) {
      auto one = std::make_unique<scripted_engine>(host);
      v = one.get();
      who->all.push_back(std::move(one));
    }
  }
  ~quorum_acquisition() override {
    for (auto* v : voter) v->forget_questions();
  }

  // Of a claim for which so many vote.
  spi::acquire_reply vote(int yes) {
    std::optional<spi::acquire_reply> out;
    engines::quorum::acquire(who, claim, boot_clock::time_point::max(),
                             [&](const spi::status& s, spi::acquire_reply r) {
                               EXPECT_FALSE(s);
                               out = std::move(r);
                             });
    for (auto* v : voter)
      v->next(v->acquires).done({}, {.granted = yes-- > 0, .token = 7, .lease = 10s});
    for (auto* v : voter) v->forget_questions();  // votes that are given back
    return std::move(*out);
  }
  spi::milliseconds longest_pause(int splits_before) {
    spi::milliseconds longest{0};
    for (int i = 0; i < 200; ++i) {
      claim.place = std::to_string(splits_before);
      longest = std::max(longest, vote(1).retry_after.value());
    }
    return longest;
  }

  recording_host host;
  scripted_engine* voter[3];
  const engines::quorum::voters_ptr who = std::make_shared<engines::quorum::voters>();
  spi::claim claim = claim_of(1, "n");
};

// Many who wanted one semaphore came back so soon that none of them was ever alone: it was free for a second and more.
TEST_F(quorum_acquisition, leaves_the_more_time_to_others_the_more_often_the_vote_was_split) {
  const auto at_first = longest_pause(0);
  const auto later = longest_pause(5);
  EXPECT_LE(at_first, 40ms);
  EXPECT_GT(later, 100ms) << "one of 200 is";
  EXPECT_LE(later, 250ms);
}

TEST_F(quorum_acquisition, forgets_the_split_votes_when_one_is_not) {
  vote(1);
  vote(1);
  EXPECT_EQ(claim.place, "2");
  EXPECT_FALSE(vote(0).granted);
  EXPECT_EQ(claim.place, "");
}

// Says no before the next one is asked, as may happen where the caller is interrupted between the two.
class quick_to_refuse : public scripted_engine {
 public:
  using scripted_engine::scripted_engine;
  void acquire(spi::claim&, spi::time_point, spi::done<spi::acquire_reply> d) override {
    EXPECT_EQ(count(releases), 0U) << "given back before it was asked for";
    d({}, {});
  }
};

// The vote of the last one stayed behind for a lease: given back first, asked for afterwards.
TEST(quorum_votes, are_not_given_back_before_all_were_asked_for) {
  recording_host host;
  const auto who = std::make_shared<engines::quorum::voters>();
  for (int i = 0; i < 3; ++i) who->all.push_back(std::make_unique<quick_to_refuse>(host));
  spi::claim claim = claim_of(1, "n");
  bool refused = false;
  engines::quorum::acquire(
      who, claim, boot_clock::time_point::max(),
      [&](const spi::status& s, const spi::acquire_reply& r) { refused = !s && !r.granted; });
  EXPECT_TRUE(refused);
  for (const auto& v : who->all) {
    auto& voter = static_cast<quick_to_refuse&>(*v);
    EXPECT_EQ(voter.count(voter.releases), 1U);
    voter.forget_questions();
  }
}

}  // namespace
}  // namespace afar::test
