#include "raw_redis.hpp"

#include "engines/redis/layout.hpp"
#include "engines/redis/steps.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <utility>

namespace bench {

namespace {

namespace engine = afar::engines::redis;

constexpr std::string_view hash_take =
    "if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then "
    "redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); "
    "return nil; end; return redis.call('pttl', KEYS[1]);";
constexpr std::string_view hash_leave =
    "if redis.call('hexists', KEYS[1], ARGV[3]) == 0 then return nil; end; "
    "local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1); "
    "if counter > 0 then redis.call('pexpire', KEYS[1], ARGV[2]); return 0; else "
    "redis.call('del', KEYS[1]); redis.call('publish', KEYS[2], ARGV[1]); return 1; end; "
    "return nil;";
constexpr std::string_view hash_leave_once =
    "local known = redis.call('get', KEYS[3]); if known then return tonumber(known); end; "
    "if redis.call('hexists', KEYS[1], ARGV[3]) == 0 then return nil; end; "
    "local left = redis.call('hincrby', KEYS[1], ARGV[3], -1); local ended = 0; "
    "if left > 0 then redis.call('pexpire', KEYS[1], ARGV[2]); else "
    "redis.call('del', KEYS[1]); redis.call(ARGV[4], KEYS[2], ARGV[1]); ended = 1; end; "
    "redis.call('set', KEYS[3], ended, 'px', ARGV[5]); return ended;";

std::string load(raw_redis& at, std::string_view script) {
  const raw_reply sha = at.ask(raw_command{{"SCRIPT", "LOAD", std::string{script}}});
  return {sha->str, sha->len};
}

// The words of a command in RESP.
std::vector<std::string> words_of(const std::string& bytes) {
  const auto number_at = [&](std::size_t& at) {
    const auto end = bytes.find('\r', at);
    const auto n = std::stoul(bytes.substr(at + 1, end - at - 1));
    at = end + 2;
    return n;
  };
  std::size_t at = 0;
  std::vector<std::string> words(number_at(at));
  for (std::string& w : words) {
    const auto size = number_at(at);
    w = bytes.substr(at, size);
    at += size + 2;
  }
  return words;
}

raw_command command_of(raw_redis& at, const engine::request& r) {
  load(at, r.code->text);
  std::string bytes;
  r.write_to(bytes, false, {});
  return raw_command{words_of(bytes)};
}

std::string unique_owner() {
  static std::atomic<int> number{0};
  return fmt::format("0f8fad5b-d9cb-469f-a165-{:012x}:{}", ::getpid(), ++number);
}

// An answer of afar's scripts: a number, or a list that begins with one.
bool says_yes(const redisReply& r) {
  const redisReply* first = r.type == REDIS_REPLY_ARRAY && r.elements > 0 ? r.element[0] : &r;
  return first->type == REDIS_REPLY_NIL || first->integer > 0;
}

}  // namespace

raw_command::raw_command(std::vector<std::string> words) : words_(std::move(words)) {
  for (const std::string& w : words_) {
    starts_.push_back(w.data());
    sizes_.push_back(w.size());
  }
}

raw_redis::raw_redis(const std::string& url) {
  const auto host = url.find("//") + 2;
  const auto port = url.rfind(':');
  context_ = ::redisConnect(url.substr(host, port - host).c_str(), std::stoi(url.substr(port + 1)));
  if (context_ && context_->err == 0) return;
  const std::string why = context_ ? context_->errstr : "no memory";
  if (context_) ::redisFree(context_);
  throw std::runtime_error("Redis: " + why);
}

raw_reply raw_redis::checked(void* answer) const {
  raw_reply r{static_cast<redisReply*>(answer)};
  if (!r) throw std::runtime_error(std::string{"Redis: "} + context_->errstr);
  if (r->type == REDIS_REPLY_ERROR) throw std::runtime_error(std::string{"Redis: "} + r->str);
  return r;
}

raw_reply raw_redis::ask(const raw_command& c) {
  return checked(::redisCommandArgv(context_, static_cast<int>(c.words_.size()),
                                    const_cast<const char**>(c.starts_.data()), c.sizes_.data()));
}

void raw_redis::append(const raw_command& c) {
  ::redisAppendCommandArgv(context_, static_cast<int>(c.words_.size()),
                           const_cast<const char**>(c.starts_.data()), c.sizes_.data());
}

void raw_redis::send() {
  for (int done = 0; done == 0;)
    if (::redisBufferWrite(context_, &done) != REDIS_OK) checked(nullptr);
}

raw_reply raw_redis::next() {
  void* answer = nullptr;
  if (::redisGetReply(context_, &answer) != REDIS_OK) answer = nullptr;
  return checked(answer);
}

raw_pair raw_pair::of(raw_redis& at, const std::string& layout, const std::string& name) {
  static std::atomic<std::uint64_t> number{0};
  const engine::claim_steps& steps = layout == "afar" ? engine::afar_steps : engine::redisson_steps;
  afar::spi::claim a;
  a.what = {afar::spi::kind::mutex, name};
  a.owner = {0x0f8fad5bd9cb469f, static_cast<std::uint64_t>(::getpid()), ++number};
  a.handoffs = 16;
  a.note = "host=machine\npid=1234\nuser=somebody\ncommand=afar_bench\n";
  const afar::spi::time_point never = afar::spi::time_point::max();
  const engine::telling how{
      .channel = engine::layout::client_channel("0f8fad5b-d9cb-469f-a165-70867728950e")};
  const auto acquire =
      steps.acquire(a, how, never, [](afar::spi::status, afar::spi::acquire_reply) {});
  const auto release =
      steps.release(a, how, never, [](afar::spi::status, afar::spi::release_reply) {});
  return {command_of(at, *acquire), command_of(at, *release)};
}

raw_pair raw_pair::of_hash(raw_redis& at, const std::string& name) {
  const std::string owner = unique_owner();
  const std::string channel = engine::layout::lock_channel(name);
  return {raw_command{{"EVALSHA", load(at, hash_take), "1", name, "30000", owner}},
          raw_command{{"EVALSHA", load(at, hash_leave), "2", name, channel, "0", "30000", owner}}};
}

raw_pair raw_pair::of_redisson(raw_redis& at, const std::string& name) {
  const std::string owner = unique_owner();
  const std::string channel = engine::layout::lock_channel(name);
  const std::string outcome =
      "redisson_unlock_latch:{" + name + "}:9fac7000840e688909c40d3efa949690";
  return {raw_command{{"EVALSHA", load(at, hash_take), "1", name, "30000", owner}},
          raw_command{{"EVALSHA", load(at, hash_leave_once), "3", name, channel, outcome, "0",
                       "30000", owner, "PUBLISH", "16000"}},
          raw_command{{"DEL", outcome}}};
}

void raw_pair::run(raw_redis& at) const {
  if (!says_yes(*at.ask(acquire)) || !says_yes(*at.ask(release)))
    throw std::logic_error("Redis: a pair that nobody contends for was refused");
  if (after) at.ask(*after);
}

raw_batches::raw_batches(const std::string& url, const std::string& layout) : connection_(url) {
  for (std::size_t b : {0U, 1U})
    for (std::size_t i = 0; i < size; ++i)
      pairs_[b].push_back(raw_pair::of(connection_, layout, fmt::format("batch/{}/{}", b, i)));
}

void raw_batches::send(std::size_t batch, bool acquire) {
  for (const raw_pair& p : pairs_[batch]) connection_.append(acquire ? p.acquire : p.release);
  connection_.send();
}

void raw_batches::receive() {
  for (std::size_t i = 0; i < size; ++i)
    if (!says_yes(*connection_.next())) throw std::logic_error("Redis: a batch was refused");
}

double raw_batches::run(nanoseconds time) {
  const std::int64_t start = now_ns();
  std::int64_t now = start;
  std::size_t done = 0;
  for (const std::size_t b : {0U, 1U}) send(b, true);
  while (now - start < time.count()) {
    for (const bool acquire : {false, true})
      for (const std::size_t b : {0U, 1U}) {
        receive();
        send(b, acquire);
      }
    done += 2 * size;
    now = now_ns();
  }
  for (const std::size_t b : {0U, 1U}) {
    receive();
    send(b, false);
  }
  receive();
  receive();
  return static_cast<double>(done) * 1e9 / static_cast<double>(now - start);
}

hash_lock::hash_lock(const std::string& url, const std::string& name)
    : commands_(url), messages_(url), pair_(raw_pair::of_hash(commands_, name)) {
  messages_.ask(raw_command{{"SUBSCRIBE", engine::layout::lock_channel(name)}});
}

// All of them say the same: look again.
void hash_lock::forget_messages() {
  char bytes[4096];
  while (::recv(messages_.descriptor(), bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
  }
}

void hash_lock::lock() {
  for (;;) {
    const raw_reply r = commands_.ask(pair_.acquire);
    if (r->type == REDIS_REPLY_NIL) return;
    pollfd p{messages_.descriptor(), POLLIN, 0};
    ::poll(&p, 1, static_cast<int>(r->integer));
    forget_messages();
  }
}

}  // namespace bench
