// A user of a counting_semaphore: takes one, has it for a while, puts it back. There is no lease; what an abandoned
// call may have taken the core has to take back itself.
#pragma once

#include "core/core.hpp"
#include "simulator/promises.hpp"
#include "simulator/world.hpp"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace afar::test {

class client;
struct scene;

class taker {
 public:
  taker(scene& s, client& c) : scene_(s), client_(c) {}

  void live();

 private:
  void take();
  void taken(const spi::status&);
  void put_back();
  bool lives() const;  // its process does
  detail::cell_request change_by(std::int64_t) const;

  scene& scene_;
  client& client_;
  const std::shared_ptr<const std::string> name_ = std::make_shared<std::string>(plan::semaphore);
  std::stop_source stop_;
  world::id cancel_ = 0;
  std::optional<promises::wish> wish_;
};

}  // namespace afar::test
