#include "simulator/plan.hpp"

#include <array>

namespace afar::test {

plan::plan(world& w)
    : calm(w.chance(300)),
      way(draw_habits(w, calm)),
      clients(2 + w.below(2)),
      users(1 + w.below(3)),
      lease(200 + 100 * w.below(15)),
      handoff(static_cast<std::uint32_t>(w.below(3) * 4)),
      // A server that is not told in order would have to remember changes for longer than ours does.
      takeable(way.fifo && w.chance(300) ? 1 + static_cast<std::int64_t>(w.below(2)) : 0),
      busy(w.between(1s, 3s)) {
  constexpr std::array kinds = {spi::kind::mutex, spi::kind::shared_mutex, spi::kind::permits,
                                spi::kind::fair_mutex};
  const auto count = 1 + w.below(2);
  names.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto k = kinds.at(w.below(kinds.size()));
    const auto limit = k == spi::kind::permits ? 1 + static_cast<std::uint32_t>(w.below(3)) : 1U;
    names.push_back({.kind = k, .text = "n" + std::to_string(i), .limit = limit});
  }
  if (!w.chance(400)) return;
  sticky = spi::milliseconds{1 + w.below(60)};
  names[0] = {.kind = spi::kind::mutex, .text = names[0].text, .limit = 1};
}

habits plan::draw_habits(world& w, bool calm) {
  habits h;
  h.at_once = w.chance(150);
  // Else a request that nobody waits for any more may arrive after its own release.
  h.fifo = calm || w.chance(500);
  h.relied_on = h.fifo && !h.at_once && w.chance(500);
  h.pushes = !h.at_once && w.chance(300);
  h.quick = w.between(200us, 5ms);
  h.slow = calm ? 20ms : w.between(10ms, 600ms);
  h.slow_ones = static_cast<unsigned>(w.below(100));
  if (calm) return h;
  h.refused = w.chance(300) ? static_cast<unsigned>(w.below(50)) : 0;
  h.lost = w.chance(500) ? static_cast<unsigned>(w.below(100)) : 0;
  h.unanswered = w.chance(500) ? static_cast<unsigned>(w.below(100)) : 0;
  h.unwoken = w.chance(500) ? static_cast<unsigned>(w.below(500)) : 0;
  return h;
}

}  // namespace afar::test
