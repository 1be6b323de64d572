// The Redis engine, in afar's own layout or Redisson's. Which servers there are, and which of them has
// a name, is the business of `servers`.
#pragma once

#include "engines/redis/acquaintance.hpp"
#include "engines/redis/address.hpp"
#include "engines/redis/io.hpp"
#include "engines/redis/servers.hpp"
#include "engines/redis/steps.hpp"
#include "engines/visits.hpp"

#include <afar/spi/engine.hpp>
#include <afar/spi/url.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace afar::engines::redis {

class redis_engine final : public spi::engine {
 public:
  // Throws lock_error if the server cannot be reached by then, or must be refused.
  redis_engine(const spi::url&, target, spi::host&, spi::time_point by);
  redis_engine(const redis_engine&) = delete;
  redis_engine& operator=(const redis_engine&) = delete;
  ~redis_engine() override;

  const spi::traits& about() const noexcept override { return about_; }
  // A voter that was away when it was opened, and is dialed in the background.
  bool away() const noexcept { return servers_->away(); }
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
  void examine(spi::time_point by, spi::done<std::vector<finding>>) override;
  void collect(spi::time_point by, spi::done<std::uint64_t>) override;
  bool drive(spi::waiter& w, spi::time_point until) noexcept override {
    return servers_->drive(w, until);
  }
  void nudge() noexcept override { servers_->nudge(); }
  void glance() noexcept override { servers_->glance(); }
  void close() noexcept override;

 private:
  void renew_one_by_one(std::span<spi::claim* const>, spi::time_point by,
                        const std::shared_ptr<spi::renewed>& each);
  std::unique_ptr<request> renewal(std::span<spi::claim* const>, std::size_t first,
                                   const std::shared_ptr<spi::renewed>& each, spi::time_point by);

  const claim_steps& steps_;
  const target to_;
  const spi::traits about_;
  const telling how_;
  const std::shared_ptr<visits> visits_ = std::make_shared<visits>();
  const std::shared_ptr<acquaintance> met_;
  const std::shared_ptr<io> io_;
  const std::shared_ptr<servers> servers_;
  std::atomic<bool> closed_{false};
};

}  // namespace afar::engines::redis
