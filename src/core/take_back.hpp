// Gives back what an abandoned change of a cell may have taken: a permit of a semaphore whose
// acquire() was stopped while the engine was asked. First the change is repeated under its own number,
// to learn whether it was applied; then it is reversed under a new one.
#pragma once

#include "core/core.hpp"
#include "core/timers.hpp"
#include "core/wait_machine.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace afar::detail {

class take_back final : public std::enable_shared_from_this<take_back> {
 public:
  take_back(core& c, cell_request r, function<void()> done)
      : core_(c.shared_from_this()), request_(std::move(r)), done_(std::move(done)) {}

  // applied: that is known already.
  void start(bool applied) { applied ? reverse() : send(); }

 private:
  using milliseconds = std::chrono::milliseconds;

  void send() {
    counters::up(core_->stats().steps);
    core_->engine().change(
        request_.change, core_->background_by(boot_clock::now()),
        [self = shared_from_this()](const spi::status& s, const spi::cell_reply& r) {
          self->answered(s, r);
        });
  }

  void reverse() {
    reversing_ = true;
    auto& change = request_.change;
    change.operand = -change.operand;
    change.min = std::numeric_limits<std::int64_t>::min();
    change.max = std::numeric_limits<std::int64_t>::max();
    change.id = core_->begin_op();
    send();
  }

  void answered(const spi::status& s, const spi::cell_reply& r) {
    const auto now = boot_clock::now();
    if (wait_machine::transient(s.code) && now < until_ && !core_->engine_closed()) {
      counters::up(core_->stats().retried);
      const auto pause =
          std::exchange(pause_, std::min(std::max(pause_ * 2, milliseconds{1}), milliseconds{500}));
      timers::shared().at(now + pause, [self = shared_from_this()] { self->send(); });
      return;
    }
    core_->end_op(request_.change.id);
    if (!s && r.applied && !reversing_) return reverse();
    done_();
  }

  const std::shared_ptr<core> core_;
  cell_request request_;
  function<void()> done_;
  const spi::time_point until_ =
      boot_clock::now() + std::chrono::seconds{30};  // the engine remembers for longer
  milliseconds pause_{0};
  bool reversing_ = false;
};

}  // namespace afar::detail
