// The servers of a cluster. Every master has its own connections; a map says which one serves a slot.
// The map is read anew when a server sends us elsewhere, cannot be reached, or breaks a connection.
//
// Invariants
//   1. Requests that were never sent go to the new master of their slot; those that were sent fail
//      with unknown_outcome, and the core repeats them.
//   2. A server that the map no longer names has no connection and no request left.
#pragma once

#include "engines/redis/address.hpp"
#include "engines/redis/dial.hpp"
#include "engines/redis/directory.hpp"
#include "engines/redis/io.hpp"
#include "engines/redis/link.hpp"
#include "engines/redis/servers.hpp"
#include "engines/redis/slots.hpp"
#include "engines/redis/subscriber.hpp"

#include <asio/steady_timer.hpp>

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace afar::engines::redis {

class cluster final : public servers,
                      public directory,
                      public std::enable_shared_from_this<cluster> {
 public:
  cluster(std::shared_ptr<io>, const target&, std::shared_ptr<visits>, spi::host&,
          const std::string& channel, detail::function<spi::status(const server&)> greeted);

  void open(spi::time_point by, const std::string& printable) override;
  void close() noexcept override;
  void submit(std::unique_ptr<request>, way) override;
  bool spread() const noexcept override { return true; }
  std::size_t count() override;
  void submit_to(std::size_t number, std::unique_ptr<request>) override;
  void examine_group(spi::time_point by, spi::done<std::vector<finding>> then) override;
  void watch(std::string channel, spi::done<spi::watch_reply> done) override {
    told_->watch(std::move(channel), std::move(done));
  }
  void unwatch(std::string channel) override { told_->unwatch(std::move(channel)); }
  bool told(std::string_view owner) override { return told_->told(owner); }

  asio::awaitable<located> locate() override;  // any server of the cluster, for messages

 private:
  struct master {
    address at;
    std::shared_ptr<link> ways[2];  // by servers::way
  };
  using master_ptr = std::shared_ptr<master>;

  master_ptr find(const address&);  // m_ held
  master_ptr make(const address&);
  bool redirect(std::unique_ptr<request>&, const reply&, way);
  void look_again() noexcept;

  // `opened` is told when there is a map, or why there will be none.
  void start(detail::function<void(spi::status)> opened);

  // ---- the engine's thread
  asio::awaitable<void> keep_map();
  asio::awaitable<located> read_map();
  spi::status use(const reply& slots, const address& from);
  void retire(std::vector<master_ptr>);

  const std::shared_ptr<io> io_;
  const target to_;
  const std::shared_ptr<visits> visits_;
  spi::host& up_;
  const std::shared_ptr<detail::function<spi::status(const server&)>> greeted_;
  const std::string channel_;
  std::shared_ptr<subscriber> told_;
  asio::steady_timer pause_;
  detail::function<void(spi::status)> opened_;  // the engine's thread
  std::size_t turn_ = 0;                        // likewise: whom to ask next

  std::mutex m_;  // guards what follows
  bool closed_ = false;
  bool outdated_ = true;
  std::vector<master_ptr> masters_;  // in the order of their first slots
  std::vector<master_ptr> guests_;   // named by a redirection, not yet by a map
  std::array<master_ptr, slot_count> serving_ = {};
};

}  // namespace afar::engines::redis
