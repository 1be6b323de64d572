#include "engines/redis/dial.hpp"

#include "engines/redis/failure.hpp"
#include "engines/redis/info.hpp"

#include <asio/buffer.hpp>
#include <asio/connect.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <array>
#include <utility>
#include <vector>

namespace afar::engines::redis {
namespace {

using asio::ip::tcp;

std::string greeting(const address& to, std::int64_t before) {
  std::string out;
  const bool login = !to.password.empty() || !to.user.empty();
  command hello{out, login ? 5U : 2U};
  hello.add("HELLO").add("2");
  if (login) hello.add("AUTH").add(to.user.empty() ? "default" : to.user).add(to.password.reveal());
  append(out, {"SELECT", std::to_string(to.database)});
  append(out, {"INFO", "server"});
  append(out, {"INFO", "memory"});
  if (before != 0) append(out, {"CLIENT", "KILL", "ID", std::to_string(before)});
  return out;
}

spi::status understand(const std::vector<reply>& answers, server& s) {
  const reply& hello = answers[0];
  if (hello.failed()) {
    if (hello.text.starts_with("ERR unknown command"))
      return {errc::unsupported, "needs Redis 6.2 or later"};
    return failure_of(hello);
  }
  for (std::size_t i = 0; i + 1 < hello.items.size(); i += 2) {
    const std::string& field = hello.items[i].text;
    const reply& value = hello.items[i + 1];
    if (field == "version") s.version = value.text;
    if (field == "role") s.role = value.text;
    if (field == "mode") s.mode = value.text;
    if (field == "id") s.connection = value.integer().value_or(0);
  }
  if (answers[1].failed()) return failure_of(answers[1]);
  s.run = info_field(answers[2].text, "run_id");
  s.eviction = info_field(answers[3].text, "maxmemory_policy");
  s.memory = info_field(answers[3].text, "maxmemory");
  return {};
}

asio::awaitable<void> converse(const address& to, std::int64_t before, dialed& out) {
  constexpr auto await = asio::use_awaitable;
  const auto context = co_await asio::this_coro::executor;
  auto& socket = *out.socket;
  out.nobody_there = true;
  std::error_code not_numeric;
  const auto numeric = asio::ip::make_address(to.host, not_numeric);
  if (!not_numeric) {
    co_await socket.async_connect(tcp::endpoint{numeric, to.port}, await);
  } else {
    tcp::resolver resolver{context};
    const auto found = co_await resolver.async_resolve(to.host, std::to_string(to.port), await);
    co_await asio::async_connect(socket, found, await);
  }
  out.nobody_there = false;
  socket.set_option(tcp::no_delay{true});
  socket.set_option(asio::socket_base::keep_alive{true});

  const std::string words = greeting(to, before);
  co_await asio::async_write(socket, asio::buffer(words), await);
  decoder decode;
  std::vector<reply> answers;
  const std::size_t expected = before != 0 ? 5 : 4;
  std::array<char, 8192> bytes;
  while (answers.size() < expected) {
    const std::size_t n = co_await socket.async_read_some(asio::buffer(bytes), await);
    decode.feed({bytes.data(), n});
    for (reply r; decode.next(r);) answers.push_back(std::move(r));
    if (decode.broken()) {
      out.failure = {errc::damaged, "does not speak Redis's protocol: " + decode.why()};
      co_return;
    }
    // A refused HELLO is the whole answer.
    if (!answers.empty() && answers[0].failed()) break;
  }
  out.failure = understand(answers, out.server);
  socket.native_non_blocking(true);
}

}  // namespace

asio::awaitable<dialed> dial(std::shared_ptr<tcp::socket> socket, const address& to,
                             std::int64_t before, spi::milliseconds most) {
  dialed out;
  const auto context = co_await asio::this_coro::executor;
  out.socket = std::move(socket);
  asio::steady_timer limit{context, most};
  const auto late = std::make_shared<bool>(false);  // shared: it may fire when we have returned
  limit.async_wait([late, s = out.socket](std::error_code stopped) {
    if (stopped) return;
    *late = true;
    std::error_code ignored;
    s->close(ignored);
  });
  try {
    co_await converse(to, before, out);
  } catch (const std::system_error& e) {
    out.failure = {errc::unavailable, *late ? "does not answer" : e.code().message()};
    out.nobody_there = out.nobody_there && !*late;
  }
  // 0: the timer has fired, or is about to: then the socket is closed, or will be.
  if (limit.cancel() == 0 && !out.failure) out.failure = {errc::unavailable, "does not answer"};
  if (out.failure) out.socket.reset();
  co_return out;
}

}  // namespace afar::engines::redis
