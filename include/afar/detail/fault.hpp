// Points at which a test can kill or stop the process: AFAR_FAULT("embedded.acquire.before_commit").
// Compiled in only with AFAR_FAULTS; otherwise the macro is nothing and the name is not evaluated.
//
// The environment says what happens: AFAR_FAULT=<name>:<kill|stop>[:<nth>], on the nth pass (1). Or
// fault_listener is called and does what it likes. test/fault_points.txt lists the points.
//
// And planted bugs: if (AFAR_MUTANT("records.release.any_owner")) ..., chosen by AFAR_MUTANT=<name>; never
// more than one. script/mutants shows that the tests find each of them.
#pragma once

#ifdef AFAR_FAULTS

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

namespace afar::detail {

struct fault_plan {
  std::mutex mutex;
  std::string point;
  int signal = 0;
  unsigned long passes_left = 0;

  // "<name>:<kill|stop>[:<nth>]"; anything else disarms.
  void read(std::string_view text) {
    const std::lock_guard guard{mutex};
    passes_left = 0;
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return;
    point = text.substr(0, colon);
    text.remove_prefix(colon + 1);
    signal = text.substr(0, text.find(':')) == "stop" ? SIGSTOP : SIGKILL;
    const auto nth = text.find(':');
    passes_left = nth == std::string_view::npos
                      ? 1
                      : std::strtoul(std::string{text.substr(nth + 1)}.c_str(), nullptr, 10);
  }
};

inline fault_plan& faults() {
  static fault_plan& plan = *[] {
    auto* made = new fault_plan;  // never freed: late threads may still pass a point
    const char* text = std::getenv("AFAR_FAULT");
    made->read(text == nullptr ? "" : text);
    return made;
  }();
  return plan;
}

// For tests that fork: replaces what the environment said.
inline void arm_fault(std::string_view text) { faults().read(text); }

// Called at every point by the thread that passes it.
inline std::atomic<void (*)(std::string_view)> fault_listener{nullptr};

inline void fault_point(std::string_view name) {
  if (auto* const listener = fault_listener.load(std::memory_order_relaxed)) listener(name);
  fault_plan& plan = faults();
  const std::lock_guard guard{plan.mutex};
  if (plan.passes_left == 0 || plan.point != name) return;
  --plan.passes_left;
  if (plan.passes_left != 0) return;
  ::kill(::getpid(), plan.signal);
}

inline bool mutant(std::string_view name) {
  static const std::string& chosen = *[] {
    const char* text = std::getenv("AFAR_MUTANT");
    return new std::string{text == nullptr ? "" : text};
  }();
  return chosen == name;
}

}  // namespace afar::detail

#define AFAR_FAULT(name) ::afar::detail::fault_point(name)
#define AFAR_MUTANT(name) ::afar::detail::mutant(name)

#else

#define AFAR_FAULT(name) static_cast<void>(0)
#define AFAR_MUTANT(name) false

#endif
