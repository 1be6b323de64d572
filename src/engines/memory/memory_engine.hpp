// The engine of memory: URLs: threads of one process, gone with it. For tests, and for programs
// that sometimes have only themselves to synchronise with. Every step completes before its call
// returns.
#pragma once

#include <afar/spi/engine.hpp>
#include <afar/spi/url.hpp>

#include "engines/memory/memory_store.hpp"

#include <memory>

namespace afar::engines::memory {

class memory_engine final : public spi::engine {
 public:
  memory_engine(std::shared_ptr<memory_store>, spi::host&);
  ~memory_engine() override;

  const spi::traits& about() const noexcept override;

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
  void close() noexcept override;

 private:
  const std::shared_ptr<memory_store> store_;
  const std::shared_ptr<listener> ear_;
};

std::unique_ptr<spi::engine> open_memory(const spi::url&, spi::host&, spi::time_point by);

}  // namespace afar::engines::memory
