// From the kill of a holder to the next grant, many times. The promise is 50 ms at p99; it is
// asserted when AFAR_KILLS says how often to kill, on a machine that has nothing else to do.
#include "actor.hpp"
#include "scene.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <afar/mutex.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace afar::test {
namespace {

TEST(crash_latency, is_short) {
  const bool strict = std::getenv("AFAR_KILLS") != nullptr;
  const long kills = setting("AFAR_KILLS", 100 / slowness);
  scene stage;
  const client locks = stage.client();
  mutex x{locks, "x"};
  durations waits;
  for (long i = 0; i < kills; ++i) {
    actor doomed{stage};
    ASSERT_TRUE(doomed.acquire("mutex", "x"));
    auto next = start([&] {
      const hold got = x.try_acquire_for(long_time);
      return got ? stamp() : 0;
    });
    ASSERT_TRUE(stage.becomes("x", 1, 1));
    doomed.kill();
    const std::int64_t granted = next.get();
    ASSERT_NE(granted, 0);
    waits.add(nanoseconds{granted - doomed.death()});
  }
  waits.print("kill to next grant");
  EXPECT_LT(waits.at(0.99), strict ? 50ms : 1s * slowness);
}

}  // namespace
}  // namespace afar::test
