#include "core/fork_guard.hpp"

#include <afar/detail/fault.hpp>

#include <pthread.h>

#include <new>

namespace afar::detail {
namespace {

// At load, not on first use: a lock or a once-flag here could be caught half way by a fork.
const int refused = ::pthread_atfork(nullptr, nullptr, [] {
  if (AFAR_MUTANT("core.fork.child_releases")) return;
  fork_generation.fetch_add(1, std::memory_order_relaxed);
});

}  // namespace

void watch_forks() {
  if (refused != 0) throw std::bad_alloc{};
}

}  // namespace afar::detail
