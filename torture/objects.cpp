#include "torture/objects.hpp"

#include <afar/barrier.hpp>
#include <afar/counter.hpp>
#include <afar/counting_semaphore.hpp>
#include <afar/election.hpp>
#include <afar/fair_mutex.hpp>
#include <afar/latch.hpp>
#include <afar/leased_semaphore.hpp>
#include <afar/mutex.hpp>
#include <afar/recursive_mutex.hpp>
#include <afar/shared_mutex.hpp>
#include <afar/stock.hpp>

#include <optional>
#include <system_error>

namespace afar::torture {
namespace {

// A latch that is open and a semaphore stay; they have no erase() of their own, because somebody may wait.
class used_up final : private detail::cell {
 public:
  used_up(const client& c, detail::cell_kind kind, std::string name)
      : cell(c, kind, std::move(name), std::nullopt) {}
  void erase(std::error_code& ec) const { remove(&ec); }
};

}  // namespace

void make(const client& c, const object& o) {
  switch (o.sort) {
    case sort::mutex:
      mutex{c, o.name};
      break;
    case sort::fair_mutex:
      fair_mutex{c, o.name};
      break;
    case sort::recursive_mutex:
      recursive_mutex{c, o.name};
      break;
    case sort::shared_mutex:
      shared_mutex{c, o.name};
      break;
    case sort::leased_semaphore:
      leased_semaphore{c, o.name, permits};
      break;
    case sort::election:
      election{c, o.name};
      break;
    case sort::counter:
      counter{c, o.name};
      break;
    case sort::stock:
      stock{c, o.name}.set(units);
      break;
    case sort::latch:
      latch{c, o.of_round(0), latch_count};
      break;
    case sort::counting_semaphore:
      counting_semaphore<>{c, o.of_round(0), permits};
      break;
    case sort::barrier:
      barrier{c, o.of_round(0), participants};
      break;
    case sort::multi_lock:
      break;  // made of the others
  }
}

std::int64_t free_permits(const client& c, const object& o, std::uint64_t round) {
  return counting_semaphore<>{c, o.of_round(round), permits}.available();
}

void erase(const client& c, const object& o, std::uint64_t last) {
  std::error_code ignored;
  if (o.sort == sort::counter) counter{c, o.name}.erase(ignored);
  if (o.sort == sort::stock) stock{c, o.name}.erase(ignored);
  if (o.sort != sort::latch && o.sort != sort::counting_semaphore) return;
  const auto kind = o.sort == sort::latch ? detail::cell_kind::latch : detail::cell_kind::semaphore;
  for (std::uint64_t round = 0; round <= last; ++round)
    used_up{c, kind, o.of_round(round)}.erase(ignored);
}

}  // namespace afar::torture
