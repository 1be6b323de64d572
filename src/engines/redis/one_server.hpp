// One server, or whoever is its master's successor by the word of the Sentinels.
#pragma once

#include "engines/redis/address.hpp"
#include "engines/redis/link.hpp"
#include "engines/redis/sentinels.hpp"
#include "engines/redis/servers.hpp"
#include "engines/redis/subscriber.hpp"

namespace afar::engines::redis {

class one_server final : public servers {
 public:
  // `channel`: where the client hears of its grants.
  one_server(std::shared_ptr<io>, const target&, std::shared_ptr<visits>, spi::host&,
             const std::string& channel, detail::function<spi::status(const server&)> greeted);

  void open(spi::time_point by, const std::string& printable) override;
  void close() noexcept override;
  bool away() const noexcept override { return away_; }
  void submit(std::unique_ptr<request> r, way over) override {
    (over == way::commands ? commands_ : renewals_)->submit(std::move(r));
  }
  std::size_t count() override { return 1; }
  void submit_to(std::size_t, std::unique_ptr<request> r) override {
    commands_->submit(std::move(r));
  }
  void examine_group(spi::time_point, spi::done<std::vector<finding>> then) override;
  void watch(std::string channel, spi::done<spi::watch_reply> done) override {
    told_->watch(std::move(channel), std::move(done));
  }
  void unwatch(std::string channel) override { told_->unwatch(std::move(channel)); }
  bool told(std::string_view owner) override { return told_->told(owner); }
  bool drive(spi::waiter& w, spi::time_point until) noexcept override {
    return commands_->drive(w, until, told_.get());
  }
  void nudge() noexcept override { commands_->nudge(); }
  void glance() noexcept override {
    if (const auto line = told_->line()) told_->hear_now(*line);
  }

 private:
  const std::shared_ptr<sentinels> sentinels_;  // null: the URL names the server
  const std::shared_ptr<directory> where_;
  std::shared_ptr<link> commands_;
  std::shared_ptr<link> renewals_;
  const std::shared_ptr<subscriber> told_;
  const bool may_be_away_;  // of a quorum, which opens without it
  bool away_ = false;
};

}  // namespace afar::engines::redis
