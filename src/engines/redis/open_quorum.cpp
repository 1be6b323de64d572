// redis+quorum://: independent servers that vote.
#include "engines/quorum/quorum_engine.hpp"
#include "engines/redis/redis.hpp"
#include "engines/redis/redis_engine.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>

namespace afar::engines {
namespace {

constexpr std::size_t least_voters = 3;
constexpr std::size_t most_voters = 9;

void check(const spi::url& where) {
  const std::size_t n = where.hosts.size();
  if (n < least_voters || n > most_voters || n % 2 == 0)
    throw std::invalid_argument{
        "a quorum has 3, 5, 7 or 9 hosts: an even one stands no more failures"};
  if (where.options.contains("replication"))
    throw std::invalid_argument{"the servers of a quorum have no replicas that matter"};
}

redis::target voter_of(const spi::url& where, std::size_t i) {
  spi::url one = where;
  one.hosts = {where.hosts[i]};
  redis::target to = redis::target_of(one);
  to.voter = true;
  // A vote that was forgotten must not be given again while its lease runs.
  to.waits_after_restart = true;
  for (redis::address& a : to.servers) a.asks_durability = true;
  return to;
}

}  // namespace

std::unique_ptr<spi::engine> open_redis_quorum(const spi::url& where, spi::host& up,
                                               spi::time_point by) {
  check(where);
  const std::size_t n = where.hosts.size();
  std::vector<redis::target> targets;
  targets.reserve(n);
  for (std::size_t i = 0; i < n; ++i) targets.push_back(voter_of(where, i));
  std::atomic<std::size_t> away{0};
  auto made = std::make_unique<quorum::quorum_engine>(
      "redis+quorum", n, up, [&](std::size_t i, spi::host& ear) -> std::unique_ptr<spi::engine> {
        auto voter = std::make_unique<redis::redis_engine>(where, targets[i], ear, by);
        if (voter->away()) ++away;
        return voter;
      });
  if (n - away >= n / 2 + 1) return made;
  throw lock_error{errc::unavailable, where.printable,
                   std::to_string(n - away) + " of " + std::to_string(n) + " servers answer"};
}

}  // namespace afar::engines
