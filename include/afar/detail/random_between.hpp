// A random duration, for pauses that set apart what would go on in step.
#pragma once

#include <random>

namespace afar::detail {

template <class Duration>
Duration random_between(Duration least, Duration most) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return Duration{
      std::uniform_int_distribution<typename Duration::rep>{least.count(), most.count()}(random)};
}

}  // namespace afar::detail
