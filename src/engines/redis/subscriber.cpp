#include "engines/redis/subscriber.hpp"

#include "engines/redis/layout.hpp"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace afar::engines::redis {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_recent = 1'024;
constexpr spi::milliseconds dial_time = 2s;

}  // namespace

std::string subscriber::owner_key(std::string_view owner) { return std::string{"q"}.append(owner); }
std::string subscriber::channel_key(std::string_view channel) {
  return std::string{"s"}.append(channel);
}

subscriber::subscriber(std::shared_ptr<io> thread, std::shared_ptr<directory> to,
                       std::shared_ptr<visits> v, spi::host& up, std::string own, bool pushes)
    : io_(std::move(thread)),
      to_(std::move(to)),
      visits_(std::move(v)),
      up_(up),
      own_(std::move(own)),
      pushes_(pushes),
      retry_(io_->context()) {}

void subscriber::start(spi::done<spi::watch_reply> first) {
  asio::post(io_->context(), [self = shared_from_this(), first = std::move(first)]() mutable {
    self->channels_[self->own_].push_back(std::move(first));
    asio::co_spawn(self->io_->context(), [self] { return self->run(); }, asio::detached);
  });
}

void subscriber::watch(std::string channel, spi::done<spi::watch_reply> done) {
  asio::post(io_->context(), [self = shared_from_this(), channel = std::move(channel),
                              done = std::move(done)]() mutable {
    waiting one;
    one.push_back(std::move(done));
    if (self->closed_) return self->answer(std::move(one), errc::closed);
    // Without a connection the core looks by itself, and asks again.
    if (!self->listening_) return self->answer(std::move(one), errc::unavailable);
    self->channels_[channel].push_back(std::move(one.front()));
    self->write("SUBSCRIBE", channel);
    self->flush();
  });
}

void subscriber::unwatch(std::string channel) {
  asio::post(io_->context(), [self = shared_from_this(), channel = std::move(channel)] {
    const auto at = self->channels_.find(channel);
    if (at == self->channels_.end() || channel == self->own_) return;
    self->answer(std::exchange(at->second, {}), errc::cancelled);
    self->channels_.erase(channel);
    if (!self->listening_) return;
    self->write("UNSUBSCRIBE", channel);
    self->flush();
  });
}

void subscriber::close() {
  asio::post(io_->context(), [self = shared_from_this()] {
    self->closed_ = true;
    self->channels_.clear();
    self->retry_.cancel();
    if (self->wire_) self->wire_->close();
  });
}

void subscriber::redial() {
  asio::post(io_->context(), [self = shared_from_this()] {
    if (self->wire_) self->wire_->close();
  });
}

bool subscriber::told(std::string_view owner) {
  const std::lock_guard lock{m_};
  return std::ranges::find(recent_, owner) != recent_.end();
}

// ---- the connection -----------------------------------------------------------------------------

asio::awaitable<spi::status> subscriber::connect() {
  located at = co_await to_->locate();
  if (at.failure || closed_) co_return std::move(at.failure);
  wire_ = std::make_shared<wire>(io_->context());
  const predecessor nobody;  // GCC 12 destroys a temporary in a co_await twice
  dialed got = co_await dial(wire_, std::move(at.to), nobody, dial_time);
  co_return std::move(got.failure);
}

asio::awaitable<void> subscriber::run() {
  spi::milliseconds wait = 10ms;
  while (!closed_) {
    const spi::status failure = co_await connect();
    if (closed_) break;
    if (failure) {
      broken(failure);
    } else {
      subscribe_all();
      co_await listen();
      wait = 10ms;
      listening_ = false;
      wire_->close();
      if (!closed_) broken({errc::unavailable, "the connection broke"});
    }
    if (closed_) break;
    std::error_code cancelled;
    retry_.expires_after(wait);
    wait = std::min<spi::milliseconds>(wait * 2, 1s);
    co_await retry_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  }
  if (wire_) wire_->close();
}

void subscriber::subscribe_all() {
  out_.clear();
  write("SUBSCRIBE", own_);
  for (const auto& [channel, who] : channels_)
    if (channel != own_) write("SUBSCRIBE", channel);
  flush();
}

asio::awaitable<void> subscriber::listen() {
  decoder decode;
  std::array<char, 16384> bytes;
  const auto from = wire_;
  try {
    for (;;) {
      const std::size_t n = co_await from->read_some(bytes);
      if (!decode.feed({bytes.data(), n})) co_return;
      for (reply r; decode.next(r);) hear(r);
      if (decode.broken() || closed_) co_return;
    }
  } catch (const std::system_error&) {  // it broke; run() dials again
  }
}

void subscriber::write(std::string_view verb, std::string_view channel) {
  append(out_, {verb, channel});
}

void subscriber::flush() {
  if (std::exchange(sending_, true)) return;
  asio::co_spawn(
      io_->context(), [self = shared_from_this()] { return self->send_out(); }, asio::detached);
}

asio::awaitable<void> subscriber::send_out() {
  const auto to = wire_;
  try {
    while (!out_.empty() && to == wire_) {
      const std::string going = std::exchange(out_, {});
      co_await to->write(going);
    }
  } catch (const std::system_error&) {  // listen() meets the same failure
  }
  sending_ = false;
  if (to != wire_ && !out_.empty()) flush();  // words for the next connection
}

// ---- what is heard ------------------------------------------------------------------------------

void subscriber::hear(const reply& r) {
  const visits::guard open{visits_};
  if (!open) return;
  const std::string& what = r.at(0).text;
  const std::string& channel = r.at(1).text;
  if (what == "message" && channel == own_) {
    hear_grant(r.at(2).text);
  } else if (what == "message") {
    up_.wake(channel_key(channel));
  } else if (what == "subscribe") {
    if (channel == own_) {
      listening_ = true;
      // What was told meanwhile is lost: everybody looks again.
      if (std::exchange(heard_before_, true)) up_.wake_all();
    }
    const auto at = channels_.find(channel);
    if (at != channels_.end()) answer(std::exchange(at->second, {}), {});
  } else if (r.failed()) {
    broken({errc::denied, r.text});
  }
}

// "<owner> <token> <ms> <tokens for local hand-off>"; of a barrier zeros.
void subscriber::hear_grant(std::string_view text) {
  const std::string_view owner = text.substr(0, text.find(' '));
  {
    const std::lock_guard lock{m_};
    recent_.emplace_back(owner);
    if (recent_.size() > most_recent) recent_.pop_front();
  }
  std::uint64_t numbers[3] = {};
  const char* at = owner.data() + owner.size();
  const char* const end = text.data() + text.size();
  for (std::uint64_t& n : numbers)
    if (at < end) at = std::from_chars(at + 1, end, n).ptr;
  const auto [token, ms, more] = numbers;
  if (!pushes_ || token == 0) return up_.wake(owner_key(owner));
  up_.granted(layout::owner_of(owner), token, token + more, spi::milliseconds{ms});
}

void subscriber::answer(waiting who, const spi::status& s) {
  const visits::guard open{visits_};
  if (!open) return;
  for (auto& done : who) done(s, spi::watch_reply{.recheck = true});
}

void subscriber::broken(const spi::status& why) {
  for (auto& [channel, who] : channels_) answer(std::exchange(who, {}), why);
}

}  // namespace afar::engines::redis
