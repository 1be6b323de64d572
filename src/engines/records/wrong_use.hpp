// The words of errc::wrong_use, so that all engines say the same: "is a leased_semaphore with limit
// 3, not a mutex".
#pragma once

#include <afar/spi/engine.hpp>

#include <cstdint>

namespace afar::engines::records {

// What a name is, or what somebody takes it for. The limit counts for permits and barrier only.
struct usage {
  spi::kind kind = spi::kind::mutex;
  std::uint32_t limit = 1;
};

constexpr bool has_limit(spi::kind k) noexcept {
  return k == spi::kind::permits || k == spi::kind::barrier;
}

constexpr bool same_use(usage a, usage b) noexcept {
  return a.kind == b.kind && (!has_limit(a.kind) || a.limit == b.limit);
}

spi::status wrong_use(usage is, usage wanted);

}  // namespace afar::engines::records
