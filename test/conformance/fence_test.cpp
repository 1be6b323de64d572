#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/threads.hpp"

#include <afar/counter.hpp>
#include <afar/fence.hpp>
#include <afar/mutex.hpp>

#include <atomic>
#include <cstdint>

namespace afar::test {
namespace {

class fences : public engine_test {
 protected:
  void SetUp() override { need<counter>("counter"); }
};

TEST_P(fences, refuse_on_every_machine_what_is_older_than_the_newest_holder) {
  fence here = fence::in_counter(one, name);
  fence there = fence::in_counter(two, name);
  mutex m{one, name + "-lock"};
  hold stalled = m.acquire();
  EXPECT_TRUE(there.admit(stalled.token()));
  EXPECT_TRUE(here.admit(stalled.token())) << "a holder may write again";
  const auto old = stalled.token();
  stalled.release();
  const hold next = m.acquire();
  EXPECT_TRUE(here.admit(next.token()));
  EXPECT_FALSE(there.admit(old));
  EXPECT_EQ(there.largest(), next.token());
}

TEST_P(fences, admit_tokens_in_growing_order_only) {
  std::atomic<std::uint64_t> newest{0};
  std::atomic<int> admitted{0};
  in_parallel(4, [&](int) {
    fence f = fence::in_counter(one, name);
    for (int i = 0; i < 25; ++i) {
      const auto token = ++newest;
      const auto before = f.largest();
      if (f.admit(token)) {
        EXPECT_GE(token, before);
        ++admitted;
      }
    }
  });
  EXPECT_GE(admitted, 1);
  EXPECT_EQ(fence::in_counter(two, name).largest(), 100U) << "the newest is always admitted";
}

TEST_P(fences, in_a_counter_do_not_pretend_to_guard_a_write) {
  fence f = fence::in_counter(one, name);
  bool ran = false;
  EXPECT_EQ(thrown_by([&] { f.guard(1, [&] { ran = true; }); }), errc::unsupported);
  EXPECT_FALSE(ran);
  EXPECT_FALSE(f.admit(0));
  EXPECT_EQ(thrown_by([&] { f.admit(std::uint64_t{1} << 63); }), errc::bad_argument);
}

TEST_P(fences, notice_a_counter_that_is_something_else) {
  counter{one, name}.store(-1);
  fence f = fence::in_counter(one, name);
  EXPECT_EQ(thrown_by([&] { f.admit(1); }), errc::damaged);
}

AFAR_FOR_EVERY_ENGINE(fences);

}  // namespace
}  // namespace afar::test
