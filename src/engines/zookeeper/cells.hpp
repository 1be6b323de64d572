// Changes of cells. Those of one client on one cell go one after another: they would only make each
// other's versions stale.
#pragma once

#include "engines/zookeeper/tickets.hpp"
#include "engines/zookeeper/world.hpp"

#include <afar/spi/engine.hpp>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace afar::engines::zookeeper {

class cells : public std::enable_shared_from_this<cells> {
 public:
  explicit cells(world_ptr w) : w_(std::move(w)), tickets_(w_->to) {}

  void change(const spi::cell_change&, spi::time_point by, spi::done<spi::cell_reply>);
  void close();  // removes the tickets

 private:
  class step;
  using step_ptr = std::shared_ptr<step>;

  void ended(const std::string& path);

  const world_ptr w_;
  tickets tickets_;
  std::mutex m_;
  std::map<std::string, std::deque<step_ptr>> lanes_;  // the first one is under way
};

}  // namespace afar::engines::zookeeper
