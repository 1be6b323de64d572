#include "engines/redis/failure.hpp"

#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace afar::engines::redis {
namespace {

constexpr std::array<std::pair<spi::kind, char>, 10> letters{{{spi::kind::mutex, 'm'},
                                                              {spi::kind::fair_mutex, 'f'},
                                                              {spi::kind::shared_mutex, 's'},
                                                              {spi::kind::permits, 'p'},
                                                              {spi::kind::barrier, 'b'},
                                                              {spi::kind::election, 'e'},
                                                              {spi::kind::counter, 'c'},
                                                              {spi::kind::latch, 'l'},
                                                              {spi::kind::semaphore, 'h'},
                                                              {spi::kind::stock, 'k'}}};

struct meaning {
  std::string_view code;
  errc error;
  std::string_view detail;  // empty: the server's own words
};
constexpr meaning meanings[] = {
    {"LOADING", errc::unavailable, "the server is still loading its data"},
    {"BUSY", errc::unavailable, "the server is busy in somebody's script"},
    {"MASTERDOWN", errc::unavailable, "a replica that has lost its master"},
    {"READONLY", errc::unavailable, "a read-only replica; name the master"},
    {"MISCONF", errc::unavailable, "the server cannot store its data and refuses writes"},
    {"NOREPLICAS", errc::unavailable, "the server has too few replicas and refuses writes"},
    {"CLUSTERDOWN", errc::unavailable, "a part of the cluster is down"},
    {"TRYAGAIN", errc::unavailable, "a part of the cluster is being moved"},
    {"MOVED", errc::unavailable, "the servers of the cluster disagree on who serves this name"},
    {"ASK", errc::unavailable, "the servers of the cluster disagree on who serves this name"},
    {"OOM", errc::no_room, "the server has reached maxmemory"},
    {"NOAUTH", errc::denied, "the server wants a password"},
    {"WRONGPASS", errc::denied, "user or password are wrong"},
    {"NOPERM", errc::denied, {}},
    {"WRONGTYPE", errc::wrong_use, "the name, or a key derived from it, is used by others"},
    {"AFARBROKEN", errc::broken,
     "somebody left or died before the barrier was full, or was not heard of for too long"},
    {"AFAROVERFLOW", errc::overflow, "more than 64 bits count"},
};

spi::status wrong_use(std::string_view what, records::usage wanted) {
  const std::string_view word = what.substr(0, what.find(' '));
  if (word == "redisson")
    return {errc::wrong_use, "is held in Redisson's layout; open the client with ?layout=redisson"};
  if (word == "afar")
    return {errc::wrong_use,
            "is held in afar's layout, or by a plain SET NX PX lock; open the client without "
            "?layout=redisson"};
  const auto is = kind_of(word);
  if (!is) return {errc::wrong_use, "is a Redis " + std::string{word} + " that afar did not make"};
  records::usage found{*is};
  const std::string_view limit = what.substr(std::min(what.size(), word.size() + 1));
  std::from_chars(limit.data(), limit.data() + limit.size(), found.limit);
  return records::wrong_use(found, wanted);
}

}  // namespace

char letter(spi::kind k) noexcept {
  for (const auto& [kind, sign] : letters)
    if (kind == k) return sign;
  return '?';
}

std::optional<spi::kind> kind_of(std::string_view sign) noexcept {
  for (const auto& [kind, known] : letters)
    if (sign.size() == 1 && sign[0] == known) return kind;
  return std::nullopt;
}

spi::status failure_of(const reply& error, records::usage wanted) {
  const std::string_view text = error.text;
  const std::string_view code = text.substr(0, text.find(' '));
  const std::string_view rest = text.substr(std::min(text.size(), code.size() + 1));
  if (text.starts_with("ERR max number of clients"))
    return {errc::unavailable, "the server has reached maxclients"};
  if (code == "AFARUSE") return wrong_use(rest, wanted);
  if (code == "AFARARGUMENT") return {errc::bad_argument, std::string{rest}};
  for (const meaning& m : meanings)
    if (code == m.code) return {m.error, std::string{m.detail.empty() ? text : m.detail}};
  return {errc::damaged, "the server says: " + std::string{text.substr(0, 200)}};
}

}  // namespace afar::engines::redis
