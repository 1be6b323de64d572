// The subscribed connection. It always hears its client's own channel, on which grants are told, and
// the channels that somebody watches. What comes is read by who waits for it (see beside) or, if nobody
// does, by the engine's thread, on which everything else lives.
//
// Invariants
//   1. line_ is set exactly while the connection is heard; only who has reading_ reads from it.
//   2. While it is heard and not lent, the engine's thread hears what comes. A new connection it hears
//      until it has been confirmed: those to whom the old one was lent are woken then.
#pragma once

#include "engines/redis/dial.hpp"
#include "engines/redis/directory.hpp"
#include "engines/redis/io.hpp"
#include "engines/redis/link.hpp"
#include "engines/visits.hpp"

#include <afar/spi/engine.hpp>

#include <asio/steady_timer.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace afar::engines::redis {

class subscriber final : public beside, public std::enable_shared_from_this<subscriber> {
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

  void lend() noexcept override;
  void give_back() noexcept override;
  std::shared_ptr<wire> line() noexcept override;
  void hear_now(const wire& from) noexcept override;

  // The keys of the core's watches.
  static std::string owner_key(std::string_view owner);      // a claim in line
  static std::string channel_key(std::string_view channel);  // a cell, or a name that is observed
  static bool is_owner_key(std::string_view key) { return key.starts_with('q'); }

 private:
  using waiting = std::vector<spi::done<spi::watch_reply>>;

  asio::awaitable<void> run();
  asio::awaitable<spi::status> connect();
  asio::awaitable<void> listen();
  asio::awaitable<void> pause(spi::milliseconds);
  void subscribe_all();
  void write(std::string_view verb, std::string_view channel);
  void flush();
  void end_of_line();
  // ---- any thread
  void hear(reply);
  void hear_message(const reply&);
  void hear_grant(std::string_view text);
  void hear_answer(const reply&);  // the engine's thread
  void answer(waiting, const spi::status&);
  void broken(const spi::status&);

  const std::shared_ptr<io> io_;
  const std::shared_ptr<directory> to_;
  const std::shared_ptr<visits> visits_;
  spi::host& up_;
  const std::string own_;
  const bool pushes_;
  std::shared_ptr<wire> wire_;
  asio::steady_timer retry_;  // also the signal that the connection broke
  std::map<std::string, waiting, std::less<>> channels_;  // and who waits for the server's word
  std::string out_;
  bool awaits_room_ = false;
  bool heard_before_ = false;
  bool listening_ = false;  // the server has confirmed the own channel
  bool closed_ = false;

  std::mutex reading_;
  std::unique_ptr<decoder> decode_;  // guarded by reading_

  std::mutex m_;
  std::shared_ptr<wire> line_;
  int callers_ = 0;  // to whom it is lent
  // Owners that were told of a grant, by their numbers, which a client counts up.
  std::array<std::uint64_t, 1024> recent_{};
};

}  // namespace afar::engines::redis
