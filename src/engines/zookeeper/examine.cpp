#include "engines/zookeeper/examine.hpp"

#include "engines/zookeeper/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace afar::engines::zookeeper {
namespace {

using grade = finding::grade;
using answers = std::vector<answer>;

finding session_row(const world& w) {
  const auto got = w.session.timeout();
  const auto text = fmt::format("{} ms: what a dead client held is free after that", got.count());
  if (got == w.to.session) return {grade::ok, "session", text, {}};
  return {
      grade::ok, "session", fmt::format("{} (asked for {} ms)", text, w.to.session.count()), {}};
}

// The servers' configuration, as they keep it in a node.
finding ensemble_row(const answer& config) {
  const auto count = [&](std::string_view word) {
    std::size_t n = 0;
    for (std::size_t at = config.text.find(word); at != std::string::npos;
         at = config.text.find(word, at + 1))
      ++n;
    return n;
  };
  if (!config.ok())
    return {grade::warning, "servers",
            "their configuration may not be read: how many there are is unknown",
            "let this login read /zookeeper/config"};
  const std::size_t voters = count(":participant");
  if (voters < 2)
    return {grade::warning, "servers", "one server: when it is away, so are all locks",
            "an ensemble of three"};
  if (voters % 2 == 0)
    return {grade::warning, "servers",
            fmt::format("{} voters survive no more failures than {}", voters, voters - 1),
            "an odd number of voters"};
  return {grade::ok, "servers", fmt::format("{} voters: {} may fail", voters, voters / 2), {}};
}

finding base_row(const world& w, const answer& base) {
  if (base.rc == ZNONODE)
    return {grade::ok, "names", w.to.base + " is not there yet; the first name makes it", {}};
  return {grade::ok, "names", fmt::format("{} below {}", base.stat.numChildren, w.to.base), {}};
}

finding login_row(const world& w) {
  if (!w.to.login.empty()) return {grade::ok, "login", "digest; nodes belong to it", {}};
  return {grade::ok, "login", "none: whoever reaches the servers may break every lock", {}};
}

}  // namespace

void examine(const world_ptr& w, std::shared_ptr<pledge<std::vector<finding>>> p) {
  w->session.fly(
      {ask::sync("/"), ask::get("/zookeeper/config"), ask::exists(w->to.base)},
      [w, p](answers& got) {
        if (!got[0].ok()) return p->give(failure_of_read(got[0].rc));
        p->give({}, {ensemble_row(got[1]), session_row(*w), base_row(*w, got[2]), login_row(*w)});
      });
}

}  // namespace afar::engines::zookeeper
