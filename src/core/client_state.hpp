// What a client, its primitives and its holds share. The last one closes the core.
#pragma once

#include "core/core.hpp"

#include <memory>

namespace afar::detail {

class client_state {
 public:
  explicit client_state(std::shared_ptr<core> c) : core_(std::move(c)) {}
  client_state(const client_state&) = delete;
  client_state& operator=(const client_state&) = delete;
  ~client_state();

  core& get() const noexcept { return *core_; }
  const std::shared_ptr<core>& shared() const noexcept { return core_; }

 private:
  std::shared_ptr<core> core_;
};

}  // namespace afar::detail
