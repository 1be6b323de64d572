// Any step of an engine that is repeated until it is answered, or until its answer is the one that
// is waited for: changes of cells and ledgers, surveys, evictions.
#pragma once

#include "core/cancel_guard.hpp"
#include "core/core.hpp"
#include "core/wait_op.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace afar::detail {

// Step: void send(core&, spi::time_point by, spi::done<Reply>), attempted judge(core&, const Reply&) for a
// definite answer, void settle(core&) once it will not be sent again. Optional: bool take_back(core&, done),
// when it is given up; false: there is nothing to take back.
template <class Step>
class step_op final : public wait_op {
 public:
  using reply = typename Step::reply;
  using done = function<void(spi::status, reply)>;

  step_op(std::shared_ptr<core> c, const wait_machine::limits& l, std::stop_token stop, Step step,
          done d)
      : wait_op(std::move(c), l, std::move(stop)), step_(std::move(step)), done_(std::move(d)) {}

 private:
  void attempt(spi::time_point by) override {
    counters::up(owner().stats().steps);
    step_.send(
        owner(), by,
        [self = std::static_pointer_cast<step_op>(shared_from_this())](spi::status s, reply r) {
          attempted a;
          if (!s) {
            a = self->step_.judge(self->owner(), r);
            self->reply_ = std::move(r);
          }
          self->answered(std::move(s), std::move(a));
        });
  }
  void withdraw() override {
    if constexpr (requires { step_.take_back(owner(), nullptr); }) {
      auto then = [self = std::static_pointer_cast<step_op>(shared_from_this())] {
        self->withdrawn();
      };
      if (step_.take_back(owner(), std::move(then))) return;
    }
    step_.settle(owner());
    withdrawn();
  }
  void report(const spi::status& s) override {
    if (!s) step_.settle(owner());
    auto& stats = owner().stats();
    if (s.code == errc::timed_out) counters::up(stats.timed_out);
    if (s.code == errc::cancelled) counters::up(stats.cancelled);
    // After a failure an answer may still be on its way into reply_, on another thread.
    done_(s, s ? reply{} : std::move(reply_));
  }

  Step step_;
  reply reply_{};
  done done_;
};

// Blocks until the step is answered. The first try needs no operation object where the engine
// answers at once.
template <class Step>
spi::status run_step(core& c, const wait_machine::limits& l, std::stop_token stop, Step step,
                     typename Step::reply& out) {
  if (auto bad = c.usable()) return bad;
  if (stop.stop_requested()) return errc::cancelled;
  const cancel_guard no_cancellation;
  std::optional<wait_op::first_answer> first;
  if (c.about().inline_steps) {
    first.emplace();
    counters::up(c.stats().steps);
    step.send(c, std::min(l.deadline, boot_clock::now() + l.step),
              [&](spi::status s, typename Step::reply r) {
                if (!s) first->answer = step.judge(c, r);
                first->status = std::move(s);
                out = std::move(r);
              });
    if (!first->status && first->answer.done) {
      step.settle(c);
      return {};
    }
  }
  spi::status result;
  const auto op =
      std::make_shared<step_op<Step>>(c.shared_from_this(), l, std::move(stop), std::move(step),
                                      [&](spi::status s, typename Step::reply r) {
                                        // A first answer that was final (refused, not waiting) is in `out` already.
                                        if (!s || !first) out = std::move(r);
                                        result = std::move(s);
                                      });
  op->will_block();
  op->run({.asked = first.has_value(), .answer = std::move(first)}, {});
  return result;
}

template <class Step>
void start_step(core& c, const wait_machine::limits& l, std::stop_token stop, Step step,
                typename step_op<Step>::done done) {
  if (auto bad = c.usable()) return done(std::move(bad), {});
  if (stop.stop_requested()) return done(errc::cancelled, {});
  std::make_shared<step_op<Step>>(c.shared_from_this(), l, std::move(stop), std::move(step),
                                  std::move(done))
      ->start({}, {});
}

}  // namespace afar::detail
