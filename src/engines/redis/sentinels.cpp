#include "engines/redis/sentinels.hpp"

#include "engines/redis/dial.hpp"
#include "engines/redis/failure.hpp"

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

constexpr spi::milliseconds ask_time = 500ms;  // a Sentinel that does not answer must not cost more
constexpr spi::milliseconds longest_pause = 1s;

std::string question(const std::string& master) {
  std::string words;
  append(words, {"SENTINEL", "get-master-addr-by-name", master});
  return words;
}

// {host, port}; false: nothing that makes sense.
bool read_address(const reply& r, address& out) {
  const std::string& port = r.at(1).text;
  const auto read = std::from_chars(port.data(), port.data() + port.size(), out.port);
  out.host = r.at(0).text;
  return !out.host.empty() && read.ec == std::errc{};
}

}  // namespace

sentinels::sentinels(std::shared_ptr<io> thread, target of)
    : io_(std::move(thread)), of_(std::move(of)), retry_(io_->context()) {}

asio::awaitable<located> sentinels::ask_one(const address& sentinel) {
  const auto over = std::make_shared<wire>(io_->context());
  asked got = co_await ask(over, sentinel, question(of_.master), 1, ask_time);
  over->close();
  located out;
  out.failure = std::move(got.failure);
  out.nobody_there = got.nobody_there;
  if (out.failure) co_return out;
  const reply& answer = got.answers.front();
  out.to = of_.login;
  if (answer.failed())
    out.failure = failure_of(answer);
  else if (answer.is(reply::type::nil))
    out.failure = {errc::unsupported, "knows no master \"" + of_.master + "\""};
  else if (!read_address(answer, out.to))
    out.failure = {errc::damaged, "an answer that makes no sense"};
  co_return out;
}

asio::awaitable<located> sentinels::locate() {
  located last;
  bool nobody = true;
  const auto all = of_.servers;  // others ask at the same time, and change the order
  for (const address& sentinel : all) {
    if (closed_) break;
    last = co_await ask_one(sentinel);
    if (!last.failure) {
      const auto at = std::ranges::find(of_.servers, sentinel.text(), &address::text);
      if (at != of_.servers.end()) std::rotate(of_.servers.begin(), at, at + 1);
      found(last.to);
      co_return last;
    }
    nobody = nobody && last.nobody_there;
    last.failure.detail = "Sentinel " + sentinel.text() + ": " + last.failure.detail.str();
  }
  last.nobody_there = nobody;
  co_return last;
}

void sentinels::found(const address& master) {
  const std::string now = master.text();
  const std::string before = std::exchange(known_, now);
  if (!before.empty() && before != now && moved_) moved_();
}

void sentinels::examine(detail::function<void(finding)> then) {
  const auto shared = std::make_shared<decltype(then)>(std::move(then));
  asio::post(io_->context(), [self = shared_from_this(), shared] {
    asio::co_spawn(
        self->io_->context(), [self] { return self->check_quorum(); },
        [shared](const std::exception_ptr&, finding f) { (*shared)(std::move(f)); });
  });
}

asio::awaitable<finding> sentinels::check_quorum() {
  finding out{finding::grade::failure, "sentinel", "no Sentinel answers",
              "start the Sentinels: without them no server takes over"};
  std::string words;
  append(words, {"SENTINEL", "CKQUORUM", of_.master});
  const auto all = of_.servers;
  for (const address& sentinel : all) {
    const auto over = std::make_shared<wire>(io_->context());
    const asked got = co_await ask(over, sentinel, words, 1, ask_time);
    over->close();
    if (got.failure) continue;
    const reply& answer = got.answers.front();
    out.text = "master " + known_ + "; " + answer.text;
    if (!answer.failed()) {
      out.how = finding::grade::ok;
      out.way_out.clear();
    }
    break;
  }
  co_return out;
}

// ---- hearing of another master ------------------------------------------------------------------

void sentinels::listen(detail::function<void()> moved) {
  asio::post(io_->context(), [self = shared_from_this(), moved = std::move(moved)]() mutable {
    self->moved_ = std::move(moved);
    asio::co_spawn(self->io_->context(), [self] { return self->keep_listening(); }, asio::detached);
  });
}

void sentinels::close() {
  asio::post(io_->context(), [self = shared_from_this()] {
    self->closed_ = true;
    self->moved_ = {};
    self->retry_.cancel();
    if (self->listening_) self->listening_->close();
  });
}

asio::awaitable<void> sentinels::keep_listening() {
  std::string words;
  append(words, {"SUBSCRIBE", "+switch-master"});
  spi::milliseconds wait = 10ms;
  for (std::size_t next = 0; !closed_; ++next) {
    const address sentinel = of_.servers[next % of_.servers.size()];
    listening_ = std::make_shared<wire>(io_->context());
    const asked got = co_await ask(listening_, sentinel, words, 1, ask_time);
    if (!got.failure && !closed_) {
      wait = 10ms;
      co_await locate();  // what was said before we listened
      co_await hear(listening_);
    }
    listening_->close();
    if (closed_) break;
    std::error_code cancelled;
    retry_.expires_after(wait);
    wait = std::min<spi::milliseconds>(wait * 2, longest_pause);
    co_await retry_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  }
}

// "message" "+switch-master" "<name> <old host> <old port> <new host> <new port>". Whatever is said,
// we ask: a Sentinel that is behind says the same the next time.
asio::awaitable<void> sentinels::hear(std::shared_ptr<wire> from) {
  decoder decode;
  std::array<char, 4096> bytes;
  try {
    while (!closed_) {
      const std::size_t n = co_await from->read_some(bytes);
      if (!decode.feed({bytes.data(), n})) co_return;
      bool said = false;
      for (reply r; decode.next(r);) said = said || r.at(2).text.starts_with(of_.master + " ");
      if (decode.broken()) co_return;
      if (said) co_await locate();
    }
  } catch (const std::system_error&) {  // the next Sentinel
  }
}

}  // namespace afar::engines::redis
