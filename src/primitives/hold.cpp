#include <afar/hold.hpp>

#include "core/hold_state.hpp"
#include "primitives/release.hpp"
#include "primitives/report.hpp"

#include <utility>

namespace afar {
namespace {

using detail::report;

// In a forked child nothing is held.
bool usable(const std::shared_ptr<detail::hold_state>& state) noexcept {
  return state && !state->owner().forked();
}

void release_and_report(std::shared_ptr<detail::hold_state> state, std::error_code* code) {
  if (!state) return report(spi::status{errc::not_owner}, "a hold that is empty", code);
  const auto line = state->line();  // has the name, also when the hold is gone
  report(detail::awaited_release{std::move(state)}.wait(), line->name(), code);
}

}  // namespace

hold::hold() noexcept = default;
hold::hold(std::shared_ptr<detail::hold_state> state) noexcept : state_(std::move(state)) {}
hold::hold(hold&&) noexcept = default;

hold& hold::operator=(hold&& other) noexcept {
  hold old(std::move(other));
  state_.swap(old.state_);
  return *this;
}

hold::~hold() { detail::release(std::move(state_)); }

bool hold::valid() const noexcept { return usable(state_) && state_->valid(); }

boot_clock::time_point hold::valid_until() const noexcept {
  return usable(state_) ? state_->valid_until() : boot_clock::time_point{};
}

std::uint64_t hold::token() const noexcept { return state_ ? state_->token() : 0; }

std::stop_token hold::lost() const noexcept {
  return usable(state_) ? state_->lost() : std::stop_token{};
}

loss_reason hold::why() const noexcept { return state_ ? state_->why() : loss_reason::none; }

const std::string& hold::name() const noexcept {
  static const std::string none;
  return state_ ? state_->name() : none;
}

void hold::release() { release_and_report(std::move(state_), nullptr); }
void hold::release(std::error_code& ec) noexcept { release_and_report(std::move(state_), &ec); }

}  // namespace afar
