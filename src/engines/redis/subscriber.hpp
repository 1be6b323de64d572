// The subscribed connection. It always hears its client's own channel, on which grants are told, and
// the channels that somebody watches. Everything but recent_ lives on the engine's thread.
#pragma once

#include "engines/redis/dial.hpp"
#include "engines/redis/directory.hpp"
#include "engines/redis/io.hpp"
#include "engines/visits.hpp"

#include <afar/spi/engine.hpp>

#include <asio/steady_timer.hpp>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace afar::engines::redis {

class subscriber : public std::enable_shared_from_this<subscriber> {
 public:
  // `own`: the client's channel. `pushes`: see target::pushes_grants.
  subscriber(std::shared_ptr<io>, std::shared_ptr<directory>, std::shared_ptr<visits>, spi::host&,
             std::string own, bool pushes);

  void start(
      spi::done<spi::watch_reply> first);  // told when the own channel is heard, or cannot be
  void watch(std::string channel, spi::done<spi::watch_reply>);
  void unwatch(std::string channel);
  void redial();  // the server is another one now
  void close();

  // Whether this claim's grant was told lately: it may have come before anybody watched for it.
  bool told(std::string_view owner);

  // The keys of the core's watches.
  static std::string owner_key(std::string_view owner);      // a claim in line
  static std::string channel_key(std::string_view channel);  // a cell, or a name that is observed
  static bool is_owner_key(std::string_view key) { return key.starts_with('q'); }

 private:
  using waiting = std::vector<spi::done<spi::watch_reply>>;

  asio::awaitable<void> run();
  asio::awaitable<spi::status> connect();
  asio::awaitable<void> listen();
  asio::awaitable<void> send_out();
  void subscribe_all();
  void write(std::string_view verb, std::string_view channel);
  void flush();
  void hear(const reply&);
  void hear_grant(std::string_view text);
  void answer(waiting, const spi::status&);
  void broken(const spi::status&);

  const std::shared_ptr<io> io_;
  const std::shared_ptr<directory> to_;
  const std::shared_ptr<visits> visits_;
  spi::host& up_;
  const std::string own_;
  const bool pushes_;
  std::shared_ptr<wire> wire_;
  asio::steady_timer retry_;
  std::map<std::string, waiting, std::less<>> channels_;  // and who waits for the server's word
  std::string out_;
  bool sending_ = false;
  bool heard_before_ = false;
  bool listening_ = false;  // the server has confirmed the own channel
  bool closed_ = false;

  std::mutex m_;
  std::deque<std::string> recent_;  // owners that were told of a grant
};

}  // namespace afar::engines::redis
