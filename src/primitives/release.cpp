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
  const auto client = state->let_go();  // out of the hold, which may be somebody else's in a moment
  if (hold_state::let_go_quickly(state)) return;
  const cancel_guard guard;
  state->end({});
}

awaited_release::awaited_release(hold_ptr state) : state_(std::move(state)) {
  if (state_->owner().forked()) {
    leak(std::move(state_));
    known_ = errc::forked;
    return;
  }
  const cancel_guard guard;
  client_ = state_->let_go();  // out of the hold, which may be somebody else's in a moment
  known_ = state_->end_awaited();
}

spi::status awaited_release::wait() {
  if (known_) return std::move(*known_);
  const cancel_guard guard;
  const core& c = state_->owner();
  const auto time = std::max(c.options().patience, c.about().try_time);
  return state_->await_end(deadline::after(time).at);
}

}  // namespace afar::detail
