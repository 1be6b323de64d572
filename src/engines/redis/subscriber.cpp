#include "engines/redis/subscriber.hpp"

#include "engines/redis/layout.hpp"

#include <afar/detail/fault.hpp>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

namespace afar::engines::redis {
namespace {

using namespace std::chrono_literals;

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
    self->end_of_line();
    if (self->wire_) self->wire_->retire();
  });
}

void subscriber::redial() {
  asio::post(io_->context(), [self = shared_from_this()] { self->end_of_line(); });
}

bool subscriber::told(std::string_view owner) {
  const std::uint64_t number = layout::owner_of(owner).number;
  const std::lock_guard lock{m_};
  return recent_[number % recent_.size()] == number;
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

asio::awaitable<void> subscriber::pause(spi::milliseconds d) {
  std::error_code cancelled;
  retry_.expires_after(d);
  co_await retry_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

asio::awaitable<void> subscriber::run() {
  spi::milliseconds wait = 10ms;
  while (!closed_) {
    const spi::status failure = co_await connect();
    if (closed_) break;
    if (failure) {
      broken(failure);
    } else {
      co_await listen();
      wait = 10ms;
      if (!closed_) broken({errc::unavailable, "the connection broke"});
    }
    if (closed_) break;
    co_await pause(wait);
    wait = std::min<spi::milliseconds>(wait * 2, 1s);
  }
  if (wire_) wire_->retire();
}

// Until somebody finds that it is broken. (inv 1)
asio::awaitable<void> subscriber::listen() {
  {
    const std::scoped_lock both{reading_, m_};
    wire_->leave_asio(0ms);
    decode_ = std::make_unique<decoder>();
    line_ = wire_;
  }
  awaits_room_ = false;
  subscribe_all();
  wire_->watch_readable([self = shared_from_this(), from = wire_] {
    self->hear_now(*from);
    const std::lock_guard lock{self->m_};
    if (!self->listening_ || self->callers_ == 0) from->hear_readable(true);
  });
  wire_->hear_readable(true);
  while (line() && !closed_) co_await pause(1h);
  {
    const std::lock_guard lock{m_};
    line_.reset();
  }
  listening_ = false;
  wire_->retire();
  wire_.reset();
}

void subscriber::end_of_line() {
  {
    const std::lock_guard lock{m_};
    line_.reset();
  }
  retry_.cancel();
}

void subscriber::subscribe_all() {
  out_.clear();
  write("SUBSCRIBE", own_);
  for (const auto& [channel, who] : channels_)
    if (channel != own_) write("SUBSCRIBE", channel);
  flush();
}

void subscriber::write(std::string_view verb, std::string_view channel) {
  append(out_, {verb, channel});
}

void subscriber::flush() {
  while (!out_.empty() && wire_ && !awaits_room_) {
    const auto n = wire_->send(out_);
    if (n >= 0) {
      out_.erase(0, static_cast<std::size_t>(n));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return end_of_line();
    awaits_room_ = true;
    wire_->when_writable([self = shared_from_this(), from = wire_](std::error_code) {
      if (from != self->wire_) return;
      self->awaits_room_ = false;
      self->flush();
    });
  }
}

// ---- what is heard ------------------------------------------------------------------------------

std::shared_ptr<wire> subscriber::line() noexcept {
  const std::lock_guard lock{m_};
  return line_;
}

void subscriber::lend() noexcept {
  const std::lock_guard lock{m_};
  if (callers_++ == 0 && line_) line_->hear_readable(false);
}

void subscriber::give_back() noexcept {
  const std::lock_guard lock{m_};
  if (--callers_ == 0 && line_) line_->hear_readable(true);
}

void subscriber::hear_now(const wire& from) noexcept {
  std::vector<reply> heard;
  {
    const std::unique_lock read{reading_, std::try_to_lock};
    const auto now = line();
    if (!read || now.get() != &from) return;  // somebody else reads; it is another connection
    std::array<char, 16384> bytes;
    bool more = true;
    bool ended = false;
    while (more && !ended) {
      const auto n = now->receive(bytes);
      if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) break;
      const auto size = static_cast<std::size_t>(std::max<ssize_t>(n, 0));
      more = size == bytes.size() || !now->can_wait();  // TLS may have more than poll() knows of
      ended = n <= 0 || !decode_->feed({bytes.data(), size});
      for (reply r; !ended && decode_->next(r);) heard.push_back(std::move(r));
      ended = ended || decode_->broken();
    }
    if (ended)
      asio::post(io_->context(), [self = shared_from_this(), now] {
        if (self->line() == now) self->end_of_line();
      });
  }
  for (reply& r : heard) hear(std::move(r));
}

void subscriber::hear(reply r) {
  if (r.at(0).text == "message") return hear_message(r);
  asio::post(io_->context(),
             [self = shared_from_this(), r = std::move(r)] { self->hear_answer(r); });
}

void subscriber::hear_message(const reply& r) {
  const visits::guard open{visits_};
  if (!open) return;
  const std::string& channel = r.at(1).text;
  channel == own_ ? hear_grant(r.at(2).text) : up_.wake(channel_key(channel));
}

void subscriber::hear_answer(const reply& r) {
  const visits::guard open{visits_};
  if (!open) return;
  if (r.failed()) return broken({errc::denied, r.text});
  if (r.at(0).text != "subscribe") return;
  const std::string& channel = r.at(1).text;
  if (channel == own_) {
    listening_ = true;
    // What was told meanwhile is lost: everybody looks again.
    if (std::exchange(heard_before_, true)) up_.wake_all();
  }
  const auto at = channels_.find(channel);
  if (at != channels_.end()) answer(std::exchange(at->second, {}), {});
}

// "<owner> <token> <ms> <tokens for local hand-off>"; of a barrier zeros. "<owner> ?": somebody wants it back.
void subscriber::hear_grant(std::string_view text) {
  AFAR_FAULT("redis.subscriber.granted");
  const std::string_view owner = text.substr(0, text.find(' '));
  const spi::owner_id who = layout::owner_of(owner);
  if (text.substr(owner.size()) == " ?") return up_.asked(who);
  {
    const std::lock_guard lock{m_};
    recent_[who.number % recent_.size()] = who.number;
  }
  std::uint64_t numbers[3] = {};
  const char* at = owner.data() + owner.size();
  const char* const end = text.data() + text.size();
  for (std::uint64_t& n : numbers)
    if (at < end) at = std::from_chars(at + 1, end, n).ptr;
  const auto [token, ms, more] = numbers;
  if (!pushes_ || token == 0) return up_.wake(owner_key(owner));
  up_.granted(who, token, token + more, spi::milliseconds{ms});
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
