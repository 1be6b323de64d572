// Watches the command while it runs under the lock and ends its group in time.
//
// Invariants
//   1. While the hold is valid and renewed, only the front's death, the command's own end or somebody
//      who asks for the lock begins the end of the group.
//   2. If no renewal is confirmed, the group gets SIGKILL `margin` before the hold stops to be valid
//      and SIGTERM `grace` before that: it is gone before another can hold the lock, even if this
//      machine is so busy that we are late. Both fit between two renewals, at a third of the lease.
//   3. run() returns when nobody of the group is left.
#pragma once

#include "child.hpp"
#include "run_plan.hpp"
#include "wire.hpp"

#include <afar/boot_clock.hpp>
#include <afar/hold.hpp>

namespace afar::cli {

class supervision {
 public:
  supervision(const run_plan&, const hold&, child&, const signals&, const terminal&, wire&);
  supervision(const supervision&) = delete;
  supervision& operator=(const supervision&) = delete;
  ~supervision();

  // Returns when the group is gone. True: the lock was lost, or given back, while the command ran.
  bool run();
  // Whether a signal asked for the end, be it that the command did not hear it any more.
  bool asked_to_leave() const noexcept { return asked_to_leave_; }

 private:
  using time_point = boot_clock::time_point;
  enum class phase : std::uint8_t { running, left_over, ending, killed };

  void sleep(time_point until) const noexcept;
  time_point next_step() const noexcept;
  time_point term_at() const noexcept;
  time_point kill_at() const noexcept;
  time_point::duration grace() const noexcept;   // between SIGTERM and SIGKILL
  time_point::duration margin() const noexcept;  // between SIGKILL and the end of the lease
  void listen();
  void hear(int signal);
  void look_at_child();
  void look_at_lock(time_point now);
  void step(time_point now);
  void begin_end(time_point now);
  void lose(const std::string& why, time_point now);
  void give_back(time_point now);
  void tell();

  const run_plan& plan_;
  const hold& hold_;
  child& child_;
  const signals& signals_;
  const terminal& terminal_;
  wire& wire_;
  const int bell_;  // rung when the hold is lost or asked for
  // The longest that the hold had still to go: a new one may be short until it is confirmed.
  time_point::duration longest_{};
  phase phase_ = phase::running;
  time_point due_{};    // left_over: SIGTERM; ending: SIGKILL
  std::string untold_;  // said when it cannot hold us up
  bool in_foreground_;
  bool lost_ = false;
  bool asked_for_ = false;
  bool asked_to_leave_ = false;
};

}  // namespace afar::cli
