// Arithmetic on leases and deadlines that saturates: a lease of milliseconds::max() means "for
// ever", not "in the past".
#pragma once

#include <afar/spi/engine.hpp>

#include <chrono>

namespace afar::engines::records {

template <class Rep, class Period>
constexpr spi::time_point later(spi::time_point from,
                                std::chrono::duration<Rep, Period> by) noexcept {
  using wait = std::chrono::duration<Rep, Period>;
  constexpr auto end = spi::time_point::max();
  if (from.time_since_epoch().count() < 0) from = {};  // no boot clock shows this; avoids overflow
  if (by >= std::chrono::floor<wait>(end - from)) return end;
  return from + by;
}

// Never early: whoever looks after that long finds the time passed.
constexpr spi::milliseconds left(spi::time_point until, spi::time_point now) noexcept {
  if (until <= now) return spi::milliseconds{0};
  return std::chrono::ceil<spi::milliseconds>(until - now);
}

}  // namespace afar::engines::records
