// afar::fair_mutex: a mutex that is granted in the order in which it was asked for.
#pragma once

#include <afar/detail/basic_mutex.hpp>

namespace afar {

// First come, first served among all processes and threads; there is no local hand-off. A waiter
// that is stopped or dead delays those behind it by at most its waiter lease (5 s; embedded: a dead
// one by 20 ms).
class AFAR_API fair_mutex : public detail::basic_mutex {
 public:
  fair_mutex(const client& c, std::string name)
      : basic_mutex(c, detail::claim_kind::fair_mutex, std::move(name)) {}
};

}  // namespace afar
