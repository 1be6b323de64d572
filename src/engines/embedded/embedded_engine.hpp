// The embedded engine: translates the contract's calls into steps on the store. Every step completes
// before its call returns, on the caller's thread.
#pragma once

#include "engines/embedded/store.hpp"

#include <afar/spi/engine.hpp>

#include <atomic>
#include <memory>

namespace afar::engines::embedded {

class embedded_engine final : public spi::engine {
 public:
  embedded_engine(std::shared_ptr<store>, spi::host&);
  embedded_engine(const embedded_engine&) = delete;
  embedded_engine& operator=(const embedded_engine&) = delete;
  ~embedded_engine() override;

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
  void examine(spi::time_point by, spi::done<std::vector<finding>>) override;
  void collect(spi::time_point by, spi::done<std::uint64_t>) override;
  void nudge() noexcept override {
    if (!store_->forked()) store_->bell().nudge();
  }
  bool drive(spi::waiter&, spi::time_point until) noexcept override;
  void close() noexcept override;

 private:
  spi::status closed() const {
    return closed_.load(std::memory_order_relaxed) ? spi::status{errc::closed} : spi::status{};
  }

  std::shared_ptr<store> store_;
  const std::shared_ptr<ear> ear_;
  spi::traits about_;
  std::atomic<bool> closed_{false};
};

}  // namespace afar::engines::embedded
