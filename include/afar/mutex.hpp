// afar::mutex: std::timed_mutex across machines.
#pragma once

#include <afar/detail/basic_mutex.hpp>

namespace afar {

// Lockable and TimedLockable, so std::scoped_lock, std::unique_lock and std::lock work. Not
// recursive. Threads that share a client queue in the process and send one claim at a time; the lock
// may be handed on among them a bounded number of times (client_options::handoff) before other
// processes get their turn. Each hand-over has its own, larger token.
//
//   afar::client locks;
//   afar::mutex orders{locks, "orders/42"};                // no I/O here
//   { std::scoped_lock guard{orders}; use(orders.token()); }
//   afar::hold hold = orders.acquire();
//   db.write(row, hold.token());
//
// Destroying a locked mutex releases it.
class AFAR_API mutex : public detail::basic_mutex {
 public:
  mutex(const client& c, std::string name)
      : basic_mutex(c, detail::claim_kind::mutex, std::move(name)) {}
};

}  // namespace afar
