#include "support/engines.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <afar/fair_mutex.hpp>

#include <future>
#include <mutex>
#include <vector>

namespace afar::test {
namespace {

class fair_mutexes : public engine_test {
 protected:
  void SetUp() override { need<fair_mutex>("fair_mutex"); }

  // Lets one waiter after the other queue behind a holder, waiter i as client who[i]; returns the
  // order in which they were served.
  std::vector<int> order_of_grants(const std::vector<const client*>& who) {
    std::mutex order;
    std::vector<int> served;
    std::vector<std::future<void>> waiters;
    hold first = fair_mutex{one, name}.acquire();
    for (std::size_t i = 0; i < who.size(); ++i) {
      const auto before = who[i]->stats().waited;
      waiters.push_back(start([&, i] {
        const hold got = fair_mutex{*who[i], name}.try_acquire_for(long_time);
        EXPECT_TRUE(got);
        const std::lock_guard guard{order};
        served.push_back(static_cast<int>(i));
      }));
      EXPECT_TRUE(has_waited(*who[i], before + 1));
    }
    first.release();
    for (auto& w : waiters) w.get();
    return served;
  }
};

using order = std::vector<int>;

TEST_P(fair_mutexes, serve_clients_in_the_order_in_which_they_queued) {
  const client three = connect();
  const client four = connect();
  EXPECT_EQ(order_of_grants({&two, &three, &four}), (order{0, 1, 2}));
}

TEST_P(fair_mutexes, serve_threads_of_one_client_in_the_order_in_which_they_queued) {
  EXPECT_EQ(order_of_grants({&one, &one, &one, &one}), (order{0, 1, 2, 3}));
}

TEST_P(fair_mutexes, serve_threads_of_several_clients_in_the_order_in_which_they_queued) {
  EXPECT_EQ(order_of_grants({&two, &one, &two, &one, &two, &one}), (order{0, 1, 2, 3, 4, 5}));
}

TEST_P(fair_mutexes, do_not_let_a_newcomer_overtake) {
  const client three = connect();
  hold first = fair_mutex{one, name}.acquire();
  std::promise<void> finish;
  auto waiter = start([&] {
    const hold got = fair_mutex{two, name}.try_acquire_for(long_time);
    finish.get_future().wait();
    return got.valid();
  });
  EXPECT_TRUE(has_waited(two));
  first.release();
  EXPECT_FALSE(fair_mutex(three, name).try_lock());
  EXPECT_FALSE(fair_mutex(one, name).try_acquire());
  finish.set_value();
  EXPECT_TRUE(waiter.get());
}

TEST_P(fair_mutexes, pass_over_a_waiter_that_gave_up) {
  const client three = connect();
  hold first = fair_mutex{one, name}.acquire();
  auto gives_up = start([&] { return fair_mutex{two, name}.try_lock_for(300ms); });
  EXPECT_TRUE(has_waited(two));
  auto stays = start([&] { return fair_mutex(three, name).try_lock_for(long_time); });
  EXPECT_TRUE(has_waited(three));
  EXPECT_FALSE(gives_up.get());
  const auto taken = time_of([&] {
    first.release();
    EXPECT_TRUE(stays.get());
  });
  EXPECT_LT(taken, slowness * 3s);  // less than a silent waiter would keep its place
}

TEST_P(fair_mutexes, are_not_handed_on_inside_a_client) {
  in_parallel(3, [&](int) {
    fair_mutex m{one, name};
    for (int round = 0; round < 10; ++round) const std::lock_guard guard{m};
  });
  EXPECT_EQ(one.stats().handed_on, 0U);
}

AFAR_FOR_EVERY_ENGINE(fair_mutexes);

}  // namespace
}  // namespace afar::test
