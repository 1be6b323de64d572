#include "engines/redis/acquaintance.hpp"

#include "engines/redis/replication.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace afar::engines::redis {
namespace {

// Below 6.2, SET has no GET and ZADD no GT.
bool too_old(std::string_view version) {
  int major = 0;
  int minor = 0;
  const char* const begin = version.data();
  const char* const end = begin + version.size();
  const auto read = std::from_chars(begin, end, major);
  if (read.ptr != end) std::from_chars(read.ptr + 1, end, minor);
  return major < 6 || (major == 6 && minor < 2);
}

spi::status refusal(const server& s, const target& to) {
  if (too_old(s.version))
    return {errc::unsupported, "is Redis " + s.version + "; needs 6.2 or later"};
  if (s.bits == "32")  // its scripts cannot print a token
    return {errc::unsupported, "is a Redis of 32 bits; needs one of 64"};
  const bool clustered = to.topology == topology::cluster;
  if (s.mode == "cluster" && !clustered)
    return {errc::unsupported, "is a server of a cluster; open it with redis+cluster://"};
  if (s.mode != "cluster" && clustered) return {errc::unsupported, "is no server of a cluster"};
  if (s.mode == "sentinel")
    return {errc::unsupported, "is a Sentinel; open it with redis+sentinel://"};
  // A promotion may be under way, so this is worth another try. (A cluster's replica sends us on.)
  if (s.role != "master" && !clustered)
    return {errc::unavailable, "is a read-only replica; name the master"};
  const bool evicts = !s.eviction.empty() && s.eviction != "noeviction";
  if (evicts && !to.accepts_eviction)
    return {errc::unsupported, "drops keys when it is full, locks too (maxmemory-policy " +
                                   s.eviction + "); set noeviction, or open with ?eviction=accept"};
  return {};
}

}  // namespace

spi::status acquaintance::greet(const server& s) {
  if (auto no = refusal(s, to_)) return no;
  if (s.role == "master") replicas_ = std::max(replicas_.load(), s.replicas);
  // It may get one; until then nothing could be granted.
  if (to_.replication != replication::none && s.role == "master" && s.replicas == 0)
    return {errc::unavailable, "has no replica that could confirm a grant (?replication=)"};
  if (to_.waits_after_restart && !s.forgets_nothing)
    settled_ = std::max(settled_.load(),
                        boot_clock::now() - std::chrono::seconds{s.up_for} + to_.longest_lease);
  std::string before;
  {
    const std::lock_guard lock{m_};
    before = std::exchange(runs_[to_.topology == topology::cluster ? s.at : ""], s.run);
  }
  const visits::guard open{visits_};
  if (!before.empty() && before != s.run && open) up_.in_doubt();
  return {};
}

std::int64_t acquaintance::confirmations_wanted() const noexcept {
  return wanted(to_.replication, replicas_);
}

spi::milliseconds acquaintance::unsettled(spi::time_point now) const noexcept {
  if (!to_.waits_after_restart || AFAR_MUTANT("quorum.restart.votes_at_once")) return {};
  const spi::time_point until = settled_;
  return until <= now ? spi::milliseconds{} : std::chrono::ceil<spi::milliseconds>(until - now);
}

}  // namespace afar::engines::redis
