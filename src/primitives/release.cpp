#include "primitives/release.hpp"

#include "core/cancel_guard.hpp"
#include "core/client_state.hpp"
#include "primitives/opened.hpp"

#include <algorithm>
#include <utility>

namespace afar::detail {

void release(hold_ptr state) noexcept {
  if (!state) return;
  if (state->owner().forked()) return leak(std::move(state));
  const cancel_guard guard;
  const auto client = state->let_go();  // out of the hold, which may be somebody else's in a moment
  state->end({});
}

awaited_release::awaited_release(hold_ptr state)
    : core_(state->owner().shared_from_this()),
      answer_(std::make_shared<answer<spi::status>>(core_)) {
  if (core_->forked()) {
    leak(std::move(state));
    answer_->give(errc::forked);
    return;
  }
  const cancel_guard guard;
  client_ = state->let_go();
  state->end([a = answer_](spi::status s) { a->give(std::move(s)); });
}

spi::status awaited_release::wait() {
  const cancel_guard guard;
  const auto time = std::max(core_->options().patience, core_->about().try_time);
  if (answer_->wait_until(deadline::after(time).at)) return std::move(answer_->value());
  return {errc::unknown_outcome, "the lease will end it"};
}

}  // namespace afar::detail
