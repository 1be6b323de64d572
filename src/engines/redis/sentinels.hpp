// Finds a master by asking its Sentinels, and hears from them when it is another one. Lives on the
// engine's thread.
//
// A Sentinel is believed for as long as it takes to dial: the server itself says whether it is a
// master. What the Sentinels publish only makes it faster; every dial asks anew.
#pragma once

#include "engines/redis/directory.hpp"
#include "engines/redis/io.hpp"
#include "engines/redis/wire.hpp"

#include <afar/detail/function.hpp>

#include <asio/steady_timer.hpp>

#include <memory>
#include <string>
#include <vector>

namespace afar::engines::redis {

class sentinels final : public directory, public std::enable_shared_from_this<sentinels> {
 public:
  // `of.servers` are the Sentinels.
  sentinels(std::shared_ptr<io>, target of);

  asio::awaitable<located> locate() override;

  // Calls `moved` whenever the Sentinels name another master than before, until close().
  void listen(detail::function<void()> moved);
  void close();

  // Whether enough of them are there to fail over.
  void examine(detail::function<void(finding)> then);

 private:
  asio::awaitable<located> ask_one(const address& sentinel);
  asio::awaitable<finding> check_quorum();
  asio::awaitable<void> keep_listening();
  asio::awaitable<void> hear(std::shared_ptr<wire> from);
  void found(const address& master);

  const std::shared_ptr<io> io_;
  target of_;               // the Sentinel that answered last is the first
  std::string known_ = {};  // the master, "host:port"
  detail::function<void()> moved_;
  std::shared_ptr<wire> listening_;
  asio::steady_timer retry_;
  bool closed_ = false;
};

}  // namespace afar::engines::redis
