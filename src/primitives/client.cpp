#include <afar/client.hpp>

#include "core/cancel_guard.hpp"
#include "core/client_state.hpp"
#include "core/url.hpp"
#include "engines/registry.hpp"
#include "primitives/opened.hpp"

#include <afar/detail/deadline.hpp>

#include <new>
#include <utility>

namespace afar {
namespace {

std::shared_ptr<detail::client_state> open(std::string_view url, const client_options& options) {
  const detail::cancel_guard guard;
  detail::watch_forks();
  const auto by = detail::deadline::after(options.connect_timeout).at;
  auto where = detail::parse_url(url);
  auto settings = detail::make_settings(options, where);
  return std::make_shared<detail::client_state>(std::make_shared<detail::core>(
      std::move(settings), [&](spi::host& up) { return engines::open(where, up, by); }));
}

}  // namespace

client::client() : client("local:") {}

client::client(std::string_view url, client_options options) : state_(open(url, options)) {}

client::client(std::string_view url, client_options options, std::error_code& ec) noexcept {
  try {
    state_ = open(url, options);
    ec.clear();
  } catch (const std::system_error& e) {  // lock_error, or no thread to be had
    ec = e.code();
  } catch (const std::bad_alloc&) {
    ec = std::make_error_code(std::errc::not_enough_memory);
  }
}

client::client(const client&) noexcept = default;
client::client(client&&) noexcept = default;

client& client::operator=(const client& other) noexcept { return *this = client(other); }

client& client::operator=(client&& other) noexcept {
  client old(std::move(other));
  state_.swap(old.state_);
  return *this;
}

client::~client() {
  if (state_ && state_->get().forked()) detail::leak(std::move(state_));
}

statistics client::stats() const noexcept {
  return state_ ? state_->get().stats().read() : statistics{};
}

void client::close() noexcept {
  if (!state_ || state_->get().forked()) return;
  const detail::cancel_guard guard;
  state_->get().close();
}

const std::string& client::url() const noexcept {
  static const std::string none;
  return state_ ? state_->get().options().url : none;
}

}  // namespace afar
