#include "engines/wrap/faulty_engine.hpp"

#include "engines/wrap/traced_engine.hpp"
#include "unit/engine_fixture.hpp"

#include <gmock/gmock.h>

#include <thread>

namespace afar::test {
namespace {

using engines::memory::memory_engine;
using engines::memory::memory_store;
using engines::wrap::faults;
using engines::wrap::faulty_engine;
using engines::wrap::traced_engine;
using ::testing::HasSubstr;

constexpr faults none{.drop = 0, .refuse = 0, .duplicate = 0, .delayed = 0, .spurious = 0};

class faulty_engine_of : public ::testing::Test {
 protected:
  std::unique_ptr<faulty_engine> plant(const faults& f) {
    return std::make_unique<faulty_engine>(
        host, [&](spi::host& h) { return std::make_unique<memory_engine>(store, h); }, f);
  }
  static faults with(double faults::* member, double chance) {
    faults f = none;
    f.*member = chance;
    return f;
  }

  recording_host host, other;
  std::shared_ptr<memory_store> store =
      std::make_shared<memory_store>(std::make_shared<engines::memory::time_source>());
  memory_engine plain{store, other};
};

TEST_F(faulty_engine_of, changes_nothing_without_faults) {
  const auto e = plant(none);
  EXPECT_TRUE(acquire(*e, 1, "x").reply.granted);
  EXPECT_EQ(release(*e, 1, "x").reply, release_reply::released);
  EXPECT_EQ(e->about().name, "memory");
}

TEST_F(faulty_engine_of, drops_the_answer_of_what_was_done) {
  const auto e = plant(with(&faults::drop, 1));
  EXPECT_EQ(acquire(*e, 1, "x").status.code, errc::unknown_outcome);
  EXPECT_FALSE(acquire(plain, 2, "x").reply.granted) << "it was done";
}

TEST_F(faulty_engine_of, refuses_without_doing) {
  const auto e = plant(with(&faults::refuse, 1));
  EXPECT_EQ(acquire(*e, 1, "x").status.code, errc::unavailable);
  EXPECT_TRUE(acquire(plain, 2, "x").reply.granted);
}

TEST_F(faulty_engine_of, repeats_steps_that_then_count_once) {
  const auto e = plant(with(&faults::duplicate, 1));
  spi::claim a = claim_of(1, "x");
  EXPECT_TRUE(acquire(*e, a).reply.granted);
  EXPECT_EQ(release(*e, 1, "x").reply, release_reply::released);
  spi::cell_change ch = add(1, "n");
  ch.id.owner = {1, 1, 1};
  EXPECT_EQ(change(*e, ch).reply.value, 1);
  spi::ledger_change define;
  define.what = {kind::stock, "s"};
  define.action = spi::ledger_action::define;
  define.amount = 5;
  record(*e, define);
  spi::ledger_change take = define;
  take.action = spi::ledger_action::take;
  take.amount = 2;
  take.order = "o";
  EXPECT_EQ(record(*e, take).reply.remaining, 3);
}

TEST_F(faulty_engine_of, lets_a_barrier_open_although_all_is_done_twice) {
  const auto e = plant(with(&faults::duplicate, 1));
  spi::claim a = claim_of(1, "b", kind::barrier);
  spi::claim b = claim_of(2, "b", kind::barrier);
  a.limit = b.limit = 2;
  EXPECT_FALSE(acquire(*e, a).reply.granted);
  EXPECT_TRUE(acquire(*e, b).reply.granted);
  EXPECT_TRUE(acquire(*e, a).reply.granted);
}

TEST_F(faulty_engine_of, answers_later_from_another_thread) {
  faults f = with(&faults::delayed, 1);
  f.delay = 2ms;
  const auto e = plant(f);
  spi::claim a = claim_of(1, "x");
  std::promise<std::thread::id> answered;
  e->acquire(a, never, [&](spi::status, spi::acquire_reply r) {
    EXPECT_TRUE(r.granted);
    answered.set_value(std::this_thread::get_id());
  });
  EXPECT_NE(answered.get_future().get(), std::this_thread::get_id());
}

TEST_F(faulty_engine_of, gives_its_delayed_answers_before_it_is_closed) {
  faults f = with(&faults::delayed, 1);
  f.delay = 30s;
  const auto e = plant(f);
  std::atomic<int> answers{0};
  std::vector<spi::claim> claims;
  for (std::uint64_t n = 0; n < 20; ++n) claims.push_back(claim_of(n, "x"));
  for (auto& a : claims) e->acquire(a, never, [&](spi::status, spi::acquire_reply) { ++answers; });
  e->close();
  EXPECT_EQ(answers, 20);
  EXPECT_EQ(acquire(*e, 99, "x").status.code, errc::closed);
}

TEST_F(faulty_engine_of, answers_a_renewal_once_per_claim_whatever_happens) {
  faults f{.drop = 0.3, .refuse = 0.3, .duplicate = 0.3, .delayed = 0.3, .delay = 500us, .seed = 7};
  const auto e = plant(f);
  std::vector<spi::claim> claims;
  std::vector<std::string> names;
  for (std::uint64_t n = 0; n < 20; ++n) names.push_back("x" + std::to_string(n));
  for (std::uint64_t n = 0; n < 20; ++n) claims.push_back(claim_of(n, names[n]));
  std::vector<spi::claim*> batch;
  for (auto& a : claims) {
    acquire(plain, a);
    batch.push_back(&a);
  }
  int renewed = 0;
  int refused = 0;
  int dropped = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<int> answers(batch.size());
    std::promise<void> all;
    std::size_t count = 0;
    e->renew(batch, never, [&](std::size_t i, spi::status s, spi::renew_reply r) {
      ++answers.at(i);
      if (s.code == errc::unavailable) ++refused;
      if (s.code == errc::unknown_outcome) ++dropped;
      if (!s) {
        EXPECT_EQ(r.why, loss::none);
        ++renewed;
      }
      if (++count == batch.size()) all.set_value();
    });
    all.get_future().wait();
    EXPECT_EQ(answers, std::vector<int>(batch.size(), 1));
  }
  EXPECT_GT(renewed, 300);
  EXPECT_GT(refused, 200);
  EXPECT_GT(dropped, 100);
}

TEST_F(faulty_engine_of, wakes_for_nothing_and_loses_wakes) {
  auto e = plant(with(&faults::spurious, 1));
  acquire(plain, 1, "x");
  const std::string key = acquire(*e, 2, "x").reply.watch_key;
  watch(*e, key);
  for (std::uint64_t n = 10; n < 20; ++n) acquire(*e, n, "y");
  e->close();
  EXPECT_FALSE(host.woken().empty());

  e = plant(with(&faults::lose, 1));
  watch(*e, acquire(*e, 3, "x").reply.watch_key);
  release(plain, 2, "x");
  release(plain, 1, "x");
  e->close();
  EXPECT_TRUE(host.woken().empty());
}

TEST_F(faulty_engine_of, does_the_same_again_with_the_same_seed) {
  const auto codes = [&](std::uint64_t seed) {
    faults f{.drop = 0.2, .refuse = 0.2, .delayed = 0, .seed = seed};
    const auto e = plant(f);
    std::vector<int> out;
    for (std::uint64_t n = 0; n < 100; ++n) out.push_back(acquire(*e, n, "x").status.code.value());
    return out;
  };
  EXPECT_EQ(codes(3), codes(3));
  EXPECT_NE(codes(3), codes(4));
}

// A driven waiter sleeps in the engine inside, so both calls must reach it.
class driven_engine final : public spi::engine {
 public:
  const spi::traits& about() const noexcept override { return traits_; }
  void acquire(spi::claim&, spi::time_point, spi::done<spi::acquire_reply>) override {}
  void renew(std::span<spi::claim* const>, spi::time_point, spi::renewed) override {}
  void release(const spi::claim&, spi::time_point, spi::done<release_reply>) override {}
  void change(const spi::cell_change&, spi::time_point, spi::done<spi::cell_reply>) override {}
  void record(const spi::ledger_change&, spi::time_point, spi::done<spi::ledger_reply>) override {}
  void watch(std::string_view, spi::done<spi::watch_reply>) override {}
  void unwatch(std::string_view) noexcept override {}
  void survey(const spi::survey_query&, spi::time_point, spi::done<spi::survey_reply>) override {}
  void evict(const spi::resource&, const spi::owner_id&, std::uint64_t, spi::time_point,
             spi::done<release_reply>) override {}
  bool drive(spi::waiter&, spi::time_point) noexcept override {
    ++driven;
    return false;
  }
  void nudge() noexcept override { ++nudged; }
  void close() noexcept override {}

  static inline int driven = 0;
  static inline int nudged = 0;

 private:
  spi::traits traits_;
};

TEST_F(faulty_engine_of, passes_waiters_on_through_all_wrappers) {
  struct idle_waiter final : spi::waiter {
    bool ready() const noexcept override { return false; }
    void park_until(spi::time_point) noexcept override { FAIL() << "the engine drives"; }
    void notify() noexcept override {}
  } w;
  const auto open = [&](spi::host& h) -> std::unique_ptr<spi::engine> {
    return std::make_unique<faulty_engine>(
        h, [](spi::host&) { return std::make_unique<driven_engine>(); }, none);
  };
  traced_engine e{host, open, [](std::string_view) {}};
  e.drive(w, never);
  e.nudge();
  EXPECT_EQ(driven_engine::driven, 1);
  EXPECT_EQ(driven_engine::nudged, 1);
  e.close();
}

TEST(faults_in_a_url, are_read) {
  const faults f = engines::wrap::read_faults(
      {{"drop", "0.5"}, {"refuse", "1"}, {"delay", "250us"}, {"delayed", "0"}, {"seed", "9"}});
  EXPECT_EQ(f.drop, 0.5);
  EXPECT_EQ(f.refuse, 1);
  EXPECT_EQ(f.delay, 250us);
  EXPECT_EQ(f.delayed, 0);
  EXPECT_EQ(f.seed, 9U);
  EXPECT_EQ(f.duplicate, faults{}.duplicate);
}

TEST(faults_in_a_url, are_refused_when_they_make_no_sense) {
  using options = std::map<std::string, std::string>;
  for (const options& o :
       {options{{"drop", "2"}}, options{{"drop", "-0.1"}}, options{{"drop", "x"}},
        options{{"drop", "nan"}}, options{{"delay", "5"}}, options{{"delay", "-1ms"}},
        options{{"delay", "99999s"}}, options{{"seed", "1.5"}}, options{{"drop", ""}}})
    EXPECT_THROW(engines::wrap::read_faults(o), std::invalid_argument) << o.begin()->second;
}

TEST_F(faulty_engine_of, can_be_traced) {
  std::mutex mutex;
  std::string lines;
  traced_engine e{host, [&](spi::host& h) { return std::make_unique<memory_engine>(store, h); },
                  [&](std::string_view line) {
                    std::lock_guard lock{mutex};
                    lines.append(line).append("\n");
                  }};
  acquire(e, 1, "orders/42\n");
  const std::string key = acquire(e, 2, "orders/42\n").reply.watch_key;
  watch(e, key);
  release(e, 1, "orders/42\n");
  change(e, add(3, "orders/42\n"));
  e.close();
  EXPECT_THAT(lines, HasSubstr("#1 acquire mutex \"orders/42\\x0a\""));
  EXPECT_THAT(lines, HasSubstr("#1 -> granted token "));
  EXPECT_THAT(lines, HasSubstr("#2 -> refused"));
  EXPECT_THAT(lines, HasSubstr(" wake "));
  EXPECT_THAT(lines, HasSubstr("-> released ("));
  EXPECT_THAT(lines, HasSubstr("is a mutex, not a counter"));
  EXPECT_EQ(host.woken().size(), 1U);
}

}  // namespace
}  // namespace afar::test
