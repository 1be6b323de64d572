// The ZooKeeper engine, in Apache Curator's layout. See docs/engines/zookeeper.md.
#pragma once

#include "engines/zookeeper/cells.hpp"
#include "engines/zookeeper/server_clock.hpp"
#include "engines/zookeeper/world.hpp"

#include <afar/spi/engine.hpp>
#include <afar/spi/url.hpp>

#include <atomic>
#include <memory>

namespace afar::engines::zookeeper {

class zookeeper_engine final : public spi::engine {
 public:
  // Throws lock_error if no server can be reached by then.
  zookeeper_engine(const spi::url&, target, spi::host&, spi::time_point by);
  zookeeper_engine(const zookeeper_engine&) = delete;
  zookeeper_engine& operator=(const zookeeper_engine&) = delete;
  ~zookeeper_engine() override;

  const spi::traits& about() const noexcept override { return about_; }
  void acquire(spi::claim&, spi::time_point by, spi::done<spi::acquire_reply>) override;
  void renew(std::span<spi::claim* const>, spi::time_point by, spi::renewed each) override;
  void release(const spi::claim&, spi::time_point by, spi::done<spi::release_reply>) override;
  void change(const spi::cell_change&, spi::time_point by, spi::done<spi::cell_reply>) override;
  void record(const spi::ledger_change&, spi::time_point by, spi::done<spi::ledger_reply>) override;
  void watch(std::string_view key, spi::done<spi::watch_reply>) override;
  void unwatch(std::string_view key) noexcept override;
  void survey(const spi::survey_query&, spi::time_point by, spi::done<spi::survey_reply>) override;
  void evict(const spi::resource&, const spi::owner_id&, std::uint64_t token, spi::time_point by,
             spi::done<spi::release_reply>) override;
  void ask_back(std::string_view key, spi::time_point by, spi::done<bool>) override;
  void examine(spi::time_point by, spi::done<std::vector<finding>>) override;
  void collect(spi::time_point by, spi::done<std::uint64_t>) override;
  void close() noexcept override;

 private:
  spi::traits about_;
  const world_ptr world_;
  const std::shared_ptr<cells> cells_;
  const std::shared_ptr<server_clock> clock_;
  std::atomic<bool> closed_{false};
};

}  // namespace afar::engines::zookeeper
