// One engine for MySQL, MariaDB and PostgreSQL: what differs is in `connection`.
#pragma once

#include "engines/sql/address.hpp"
#include "engines/sql/janitor.hpp"
#include "engines/sql/lanes.hpp"
#include "engines/sql/listener.hpp"
#include "engines/visits.hpp"

#include <afar/spi/engine.hpp>

#include <atomic>
#include <memory>

namespace afar::engines::sql {

class sql_engine final : public spi::engine {
 public:
  // Throws lock_error if no server can be reached by then, or must be refused.
  sql_engine(target, spi::host&, spi::time_point by);
  sql_engine(const sql_engine&) = delete;
  sql_engine& operator=(const sql_engine&) = delete;
  ~sql_engine() override;

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
  bool drive(spi::waiter&, spi::time_point until) noexcept override;
  void close() noexcept override;

 private:
  template <class Reply, class Work>
  void submit(spi::time_point by, const spi::owner_id& claim, spi::done<Reply> done, Work work);
  void clear_behind(std::string used);

  crew& crew_ = crew::here();
  const target to_;
  spi::traits about_;
  const std::shared_ptr<visits> visits_ = std::make_shared<visits>();
  const std::shared_ptr<janitor> janitor_ = std::make_shared<janitor>();
  const std::shared_ptr<listener> ear_;
  const std::shared_ptr<lanes> lanes_;
  std::atomic<bool> closed_{false};
};

}  // namespace afar::engines::sql
