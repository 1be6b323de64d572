// The engine of one client of the simulated server.
#pragma once

#include "simulator/network.hpp"

#include <afar/spi/engine.hpp>

#include <memory>

namespace afar::test {

class simulated_engine final : public spi::engine {
 public:
  simulated_engine(std::shared_ptr<channel>, const spi::traits&);

  static spi::traits traits_of(const habits&);

  const spi::traits& about() const noexcept override { return traits_; }
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
  bool drive(spi::waiter&, spi::time_point until) noexcept override;
  void close() noexcept override { way_->end(); }

 private:
  // step(Reply&): what the server does, when the request arrives.
  template <class Reply, class Step>
  void ask(spi::time_point by, spi::done<Reply>, Step step);
  template <class Reply, class Step>
  void ask_at_once(spi::done<Reply>&, Step& step);

  const std::shared_ptr<channel> way_;
  const spi::traits traits_;
};

}  // namespace afar::test
