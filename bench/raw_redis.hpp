// Redis without afar: what hiredis does when it is asked to do the same, or what others do.
#pragma once

#include "clock.hpp"

#include <hiredis/hiredis.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// A command that is asked many times.
class raw_command {
 public:
  explicit raw_command(std::vector<std::string> words);
  raw_command(raw_command&&) = default;
  raw_command(const raw_command&) = delete;
  raw_command& operator=(const raw_command&) = delete;

 private:
  friend class raw_redis;
  std::vector<std::string> words_;
  std::vector<const char*> starts_;  // into words_
  std::vector<std::size_t> sizes_;
};

struct free_reply {
  void operator()(redisReply* r) const noexcept { ::freeReplyObject(r); }
};
using raw_reply = std::unique_ptr<redisReply, free_reply>;

// One blocking connection. Throws if the server is gone or answers with an error.
class raw_redis {
 public:
  explicit raw_redis(const std::string& url);  // redis://host:port, nothing behind it
  ~raw_redis() { ::redisFree(context_); }
  raw_redis(const raw_redis&) = delete;
  raw_redis& operator=(const raw_redis&) = delete;

  raw_reply ask(const raw_command&);
  void append(const raw_command&);
  void send();  // what was appended
  raw_reply next();
  int descriptor() const noexcept { return context_->fd; }

 private:
  raw_reply checked(void*) const;
  redisContext* context_;
};

// What afar asks for a pair of a mutex in a layout, word by word: the same scripts.
struct raw_pair {
  raw_command acquire;
  raw_command release;
  std::optional<raw_command> after = {};  // what it sends when it knows of its release

  static raw_pair of(raw_redis& loads_scripts, const std::string& layout, const std::string& name);
  // Redisson's hash and no more, as it was until 3.24: no token, and nothing that makes a repeated unlock safe.
  static raw_pair of_hash(raw_redis& loads_scripts, const std::string& name);
  // What Redisson 4.7 sends, as MONITOR shows it: an unlock leaves its outcome in a key, and then removes it.
  static raw_pair of_redisson(raw_redis& loads_scripts, const std::string& name);

  void run(raw_redis&) const;  // throws if it is not granted
};

// One thread, two batches of pairs in flight: what the server can do.
class raw_batches {
 public:
  raw_batches(const std::string& url, const std::string& layout);
  double run(nanoseconds);  // pairs per second

 private:
  static constexpr std::size_t size = 64;
  void send(std::size_t batch, bool acquire);
  void receive();
  raw_redis connection_;
  std::vector<raw_pair> pairs_[2];
};

// A hash, a standing subscription, and a new attempt whenever somebody has unlocked.
class hash_lock {
 public:
  hash_lock(const std::string& url, const std::string& name);
  void lock();
  void unlock() { commands_.ask(pair_.release); }

 private:
  void forget_messages();
  raw_redis commands_;
  raw_redis messages_;
  raw_pair pair_;
};

}  // namespace bench
