#include "engines/redis/dial.hpp"

#include "engines/redis/failure.hpp"
#include "engines/redis/info.hpp"

#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <array>
#include <utility>

namespace afar::engines::redis {
namespace {

using asio::ip::tcp;

// ---- the stream ---------------------------------------------------------------------------------

asio::awaitable<void> connect_tcp(wire& over, const address& to) {
  std::error_code not_numeric;
  const auto numeric = asio::ip::make_address(to.host, not_numeric);
  if (!not_numeric) {
    co_await over.socket().async_connect(tcp::endpoint{numeric, to.port}, asio::use_awaitable);
  } else {
    tcp::resolver resolver{co_await asio::this_coro::executor};
    const auto found =
        co_await resolver.async_resolve(to.host, std::to_string(to.port), asio::use_awaitable);
    std::exception_ptr failed;
    for (const auto& one : found) {
      try {
        over.close();
        co_await over.socket().async_connect(one.endpoint(), asio::use_awaitable);
        failed = nullptr;
        break;
      } catch (const std::system_error&) {
        failed = std::current_exception();
      }
    }
    if (failed) std::rethrow_exception(failed);
  }
  over.socket().set_option(tcp::no_delay{true});
  over.socket().set_option(asio::socket_base::keep_alive{true});
}

// `hint`: what a silent server may be told by, from here on.
asio::awaitable<void> connect(wire& over, const address& to, bool& nobody_there,
                              std::string_view& hint) {
  nobody_there = true;
  if (to.path.empty())
    co_await connect_tcp(over, to);
  else
    co_await over.socket().async_connect(asio::local::stream_protocol::endpoint{to.path},
                                         asio::use_awaitable);
  nobody_there = false;
  over.socket().native_non_blocking(true);
  hint = to.tls ? " (a port without TLS wants redis://)" : " (a port for TLS wants rediss://)";
  if (!to.tls) co_return;
  co_await over.secure(*to.tls, to.host);
  hint = {};
}

// ---- the first words ----------------------------------------------------------------------------

// Reads until there are `count` answers. A refused HELLO, the first of them, is the whole answer.
asio::awaitable<spi::status> hear(wire& over, std::size_t count, std::vector<reply>& answers) {
  decoder decode;
  std::array<char, 16384> bytes;
  while (answers.size() < count) {
    const std::size_t n = co_await over.read_some(bytes);
    decode.feed({bytes.data(), n});
    for (reply r; decode.next(r);) answers.push_back(std::move(r));
    if (decode.broken())
      co_return spi::status{errc::damaged, "does not speak Redis's protocol: " + decode.why()};
    if (!answers.empty() && answers[0].failed()) break;
  }
  co_return spi::status{};
}

void say_hello(std::string& out, const address& to) {
  const bool login = !to.password.empty() || !to.user.empty();
  command hello{out, login ? 5U : 2U};
  hello.add("HELLO").add("2");
  if (login) hello.add("AUTH").add(to.user.empty() ? "default" : to.user).add(to.password.reveal());
}

spi::status refused_hello(const reply& hello) {
  if (hello.text.starts_with("ERR unknown command"))
    return {errc::unsupported, "needs Redis 6.2 or later"};
  return failure_of(hello);
}

spi::status understand(const std::vector<reply>& answers, server& s) {
  const reply& hello = answers[0];
  if (hello.failed()) return refused_hello(hello);
  for (std::size_t i = 0; i + 1 < hello.items.size(); i += 2) {
    const std::string& field = hello.items[i].text;
    const reply& value = hello.items[i + 1];
    if (field == "version") s.version = value.text;
    if (field == "role") s.role = value.text;
    if (field == "mode") s.mode = value.text;
    if (field == "id") s.connection = value.integer().value_or(0);
  }
  if (answers[1].failed()) return failure_of(answers[1]);
  const std::string_view info = answers[2].text;
  s.run = info_field(info, "run_id");
  s.eviction = info_field(info, "maxmemory_policy");
  s.bits = info_field(info, "arch_bits");
  s.memory = info_field(info, "maxmemory");
  s.clock = info_number(info, "server_time_usec").value_or(0);
  s.up_for = info_number(info, "uptime_in_seconds").value_or(0);
  s.replicas = info_number(info, "connected_slaves").value_or(0);
  s.forgets_nothing = answers.size() > 3 && answers[3].at(1).text == "always" &&
                      info_field(info, "aof_enabled") == "1";
  return {};
}

asio::awaitable<void> converse(wire& over, const address& to, const predecessor& before,
                               dialed& out) {
  co_await connect(over, to, out.nobody_there, out.hint);
  std::string words;
  say_hello(words, to);
  append(words, {"SELECT", std::to_string(to.database)});
  append(words, {"INFO"});
  if (to.asks_durability) append(words, {"CONFIG", "GET", "appendfsync"});
  co_await over.write(words);
  std::vector<reply> answers;
  out.failure = co_await hear(over, to.asks_durability ? 4 : 3, answers);
  out.hint = {};
  out.server.at = to.text();
  if (!out.failure) out.failure = understand(answers, out.server);
  // Numbers of connections begin anew with every run: another's must not be ended.
  if (out.failure || before.connection == 0 || before.run != out.server.run) co_return;
  words.clear();
  append(words, {"CLIENT", "KILL", "ID", std::to_string(before.connection)});
  co_await over.write(words);
  answers.clear();
  out.failure = co_await hear(over, 1, answers);
}

asio::awaitable<void> converse(wire& over, const address& to, const std::string& words,
                               std::size_t count, asked& out) {
  co_await connect(over, to, out.nobody_there, out.hint);
  std::string all;
  say_hello(all, to);
  co_await over.write(all += words);
  out.failure = co_await hear(over, count + 1, out.answers);
  if (!out.failure && out.answers[0].failed()) out.failure = refused_hello(out.answers[0]);
  if (!out.failure) out.answers.erase(out.answers.begin());
}

// ---- the deadline -------------------------------------------------------------------------------

spi::status failure_of_stream(const std::system_error& e, const wire& over, const address& to) {
  const std::string why = over.why();
  if (why.empty()) return {errc::unavailable, e.code().message()};
  // TLS will fail the next time too.
  return {errc::denied, "TLS with " + to.host + " failed: " + why};
}

// Runs `talk(out)` and ends it by closing the wire when `most` is over.
template <class Out, class Talk>
asio::awaitable<Out> in_time(std::shared_ptr<wire> over, const address& to, spi::milliseconds most,
                             Talk talk) {
  Out out;
  asio::steady_timer limit{co_await asio::this_coro::executor, most};
  const auto late = std::make_shared<bool>(false);  // shared: it may fire when we have returned
  limit.async_wait([late, over](std::error_code stopped) {
    if (stopped) return;
    *late = true;
    over->close();
  });
  try {
    co_await talk(out);
  } catch (const std::system_error& e) {
    out.failure =
        *late ? spi::status{errc::unavailable, "does not answer"} : failure_of_stream(e, *over, to);
    out.failure.detail = out.failure.detail.str() + std::string{out.hint};
    out.nobody_there = out.nobody_there && !*late;
  }
  // 0: the timer has fired, or is about to: then the socket is closed, or will be.
  if (limit.cancel() == 0 && !out.failure) out.failure = {errc::unavailable, "does not answer"};
  if (out.failure) over->close();
  co_return out;
}

}  // namespace

asio::awaitable<dialed> dial(std::shared_ptr<wire> over, address to, predecessor before,
                             spi::milliseconds most) {
  co_return co_await in_time<dialed>(over, to, most,
                                     [&](dialed& out) { return converse(*over, to, before, out); });
}

asio::awaitable<asked> ask(std::shared_ptr<wire> over, address to, std::string words,
                           std::size_t count, spi::milliseconds most) {
  co_return co_await in_time<asked>(
      over, to, most, [&](asked& out) { return converse(*over, to, words, count, out); });
}

}  // namespace afar::engines::redis
