// What steps collect in passing. The clock is ours here.
#include "embedded_fixture.hpp"
#include "engines/embedded/chores.hpp"
#include "engines/embedded/ledger_book.hpp"
#include "engines/embedded/stored.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

namespace afar::engines::embedded {
namespace {

using namespace std::chrono_literals;

class embedded_chores : public ::testing::Test {
 protected:
  embedded_chores() { ::mkdir(folder.path().c_str(), 0700); }

  records::moment moment() const {
    records::moment m;
    m.now = now;
    m.calendar_us = static_cast<std::uint64_t>(now.time_since_epoch() / 1us);
    m.session = 1;
    m.alive = &alive;
    return m;
  }
  void put(const std::string& name, spi::kind kind, std::uint64_t session) {
    spi::claim c;
    c.what = {kind, name};
    c.owner = {1, 1, session};
    c.lease = 1h;
    records::claims record;
    stored<records::claims> s{env, name, kind, moment().calendar_us, record};
    if (!s.exists()) record = records::fresh_claims(c);
    records::moment m = moment();
    m.session = session;
    spi::acquire_reply reply;
    records::effects e;
    records::acquire(record, c, m, reply, e);
    s.save(record, [] {});
  }
  void rounds(int n) {
    std::string from;
    for (int i = 0; i < n; ++i) from = tidy(env, from, moment(), done);
  }
  std::size_t keys() {
    std::size_t n = 0;
    environment::view view{env};
    for (auto item = view.first_from("a"); item; item = view.next()) ++n;
    return n;
  }
  spi::status record(spi::ledger_action action, const std::string& order = {}) {
    spi::ledger_change ch;
    ch.what = {spi::kind::stock, "shop"};
    ch.action = action;
    ch.amount = action == spi::ledger_action::define ? 1'000 : 1;
    ch.order = order;
    ch.buyer = order;
    ch.per_buyer = 5;
    ch.hold_for = 1h;
    ledger_book book{env, "shop", moment().calendar_us};
    spi::ledger_reply reply;
    auto s = records::record(book, ch, now, {}, reply);
    if (book.changed()) book.commit();
    return s;
  }

  test::scratch_folder folder;
  std::atomic<std::uint64_t> room{0};
  environment env{folder.path() + "-shard", false, room};
  spi::time_point now{24h};
  bool dead = true;  // sessions from 100 on
  records::alive_test alive = [this](records::session_id id) { return id < 100 || !dead; };
  tidied done;
};

TEST_F(embedded_chores, free_what_dead_processes_held_and_say_whom_to_wake) {
  dead = false;
  put("x", spi::kind::mutex, 200);
  put("x", spi::kind::mutex, 2);  // waits
  dead = true;
  rounds(1);
  ASSERT_EQ(done.found.size(), 1U);
  EXPECT_EQ(done.found[0].name, "x");
  EXPECT_EQ(done.found[0].effects.call, (std::vector<spi::owner_id>{{1, 1, 2}}));
}

TEST_F(embedded_chores, collect_idle_records_when_their_floor_is_over) {
  for (int i = 0; i < 20; ++i) put("x" + std::to_string(i), spi::kind::mutex, 200);
  rounds(4);
  EXPECT_EQ(keys(), 20U) << "token floors";
  now += records::floor_life + 1ms;
  rounds(4);
  EXPECT_EQ(keys(), 0U);
}

TEST_F(embedded_chores, leave_what_is_in_use) {
  put("x", spi::kind::mutex, 2);
  now += 30min;
  rounds(3);
  EXPECT_EQ(keys(), 1U);
}

TEST_F(embedded_chores, remove_the_orders_of_an_erased_stock_bit_by_bit) {
  record(spi::ledger_action::define);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(record(spi::ledger_action::take, "t" + std::to_string(i)));
    EXPECT_FALSE(record(spi::ledger_action::reserve, "r" + std::to_string(i)));
  }
  EXPECT_EQ(keys(), 1 + 200 + 200 + 100U) << "head, orders, buyers, deadlines";
  record(spi::ledger_action::erase);
  record(spi::ledger_action::define);
  EXPECT_FALSE(record(spi::ledger_action::take, "t1")) << "the new one knows nothing of the old";
  rounds(30);
  EXPECT_EQ(keys(), 3U);
}

TEST_F(embedded_chores, pass_over_damaged_records) {
  {
    environment::transaction change{env};
    change.put("na", 5)[0] = std::byte{99};
    change.commit();
  }
  put("x", spi::kind::mutex, 200);
  rounds(2);
  EXPECT_EQ(done.found.size(), 1U);
  now += 1min;
  rounds(4);
  EXPECT_EQ(keys(), 1U);
}

}  // namespace
}  // namespace afar::engines::embedded
