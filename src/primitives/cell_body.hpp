// What a counter, semaphore or latch shares with the waits that outlive it.
#pragma once

#include "core/client_state.hpp"

#include <afar/detail/cell.hpp>

#include <memory>
#include <optional>
#include <string>

namespace afar::detail {

class cell_body {
 public:
  cell_body(std::shared_ptr<client_state>, spi::kind, std::string name,
            std::optional<std::int64_t> initial);
  cell_body(const cell_body&) = delete;
  cell_body& operator=(const cell_body&) = delete;
  ~cell_body() = default;

  core& owner() const noexcept { return client_->get(); }
  const std::string& name() const noexcept { return name_; }
  const std::optional<std::int64_t>& initial() const noexcept { return initial_; }

  // Requests with the goal `answered`; the others wait.
  cell_request load() const { return request(spi::cell_action::load, 0); }
  cell_request add(std::int64_t, cell_range) const;
  cell_request store(std::int64_t) const;
  cell_request compare_exchange(std::int64_t expected, std::int64_t desired) const;
  cell_request erase() const { return request(spi::cell_action::erase, 0); }

  cell_request wait_add(std::int64_t, cell_range, deadline, std::stop_token) const;
  cell_request wait_change(std::int64_t old, deadline, std::stop_token) const;
  cell_request wait_zero(deadline, std::stop_token) const;

 private:
  cell_request request(spi::cell_action, std::int64_t operand) const;

  const std::shared_ptr<client_state> client_;
  const spi::kind kind_;
  const std::string name_;
  const std::shared_ptr<const std::string> full_name_;
  const std::optional<std::int64_t> initial_;
};

}  // namespace afar::detail
