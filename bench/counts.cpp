#include "counts.hpp"

#include "peers.hpp"
#include "traced.hpp"

#include <optional>

namespace bench {

void tell_counts(const counted_work& w, const syscall_counter& calls, report& out) {
  constexpr int pairs = 2'000;
  w.pair();  // the first one meets nothing that is ready
  const auto heap = allocations();
  const auto before = calls.count();
  for (int i = 0; i < pairs; ++i) w.pair();
  const auto after = calls.count();
  out.add({.id = w.id + " heap",
           .what = w.engine + ", operator new per pair",
           .afar = static_cast<double>(allocations() - heap) / pairs});
  std::optional<double> each;
  if (before && after)
    each = static_cast<double>(*after - *before) / pairs;
  else
    each = traced_calls(afar_as_peer("afar", w.how), w.url);
  if (each)
    out.add({.id = w.id + " calls", .what = w.engine + ", system calls per pair", .afar = *each});
  else
    out.skip(w.id + " calls: neither the kernel's tracing nor strace counts system calls here");
}

}  // namespace bench
