// What the records of all processes say together: belief intervals that overlap, tokens that went
// back, percentiles. A belief interval is [granted, min(told lost, releasing, death, until)): the
// time in which the process had reason to think that it held the lock.
#pragma once

#include "demo/record.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <vector>

namespace afar::cli::demo {

inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

// One process, from its start to its end.
struct life {
  std::uint32_t worker = 0;
  std::uint32_t number = 0;  // how often this worker was started before
  std::vector<fact> facts;
  std::int64_t death = never;  // a stamp before the kill was sent
};

// Also one that is empty, since the answer came too late, is a grant with a token.
struct belief {
  std::int64_t asked = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::uint64_t token = 0;
};

inline std::vector<belief> beliefs(const std::vector<life>& lives) {
  std::vector<belief> all;
  for (const life& l : lives) {
    std::int64_t asked = 0;
    std::int64_t told = never;
    std::optional<belief> open;
    const auto close = [&] {
      if (!open) return;
      open->to = std::min({open->to, told, l.death});
      all.push_back(*open);
      open.reset();
    };
    for (const fact& f : l.facts) {
      if (f.what == act::asked) asked = f.at;
      if (f.what == act::granted) {
        close();
        open = belief{asked, f.at, f.until, f.token};
        told = never;
      }
      if (!open || f.token != open->token) continue;
      if (f.what == act::told_lost) told = f.at;
      if (f.what == act::releasing) {
        open->to = std::min(f.at, std::max(open->to, f.until));  // renewals have moved `until`
        close();
      }
    }
    close();
  }
  std::sort(all.begin(), all.end(),
            [](const belief& a, const belief& b) { return a.from < b.from; });
  return all;
}

// `sorted` by its begin. Counts intervals that begin before an earlier one has ended.
inline std::uint64_t overlaps(const std::vector<belief>& sorted) {
  std::uint64_t found = 0;
  std::int64_t end = 0;
  for (const belief& b : sorted) {
    if (b.to <= b.from) continue;  // it was over before the caller heard of it
    if (b.from < end) ++found;
    end = std::max(end, b.to);
  }
  return found;
}

// A grant whose request began after another grant was answered must have the larger token, and no
// two grants share one.
inline std::uint64_t tokens_out_of_order(std::vector<belief> grants) {
  std::vector<belief> by_answer = grants;  // sorted by `from` already
  std::sort(grants.begin(), grants.end(),
            [](const belief& a, const belief& b) { return a.asked < b.asked; });
  std::uint64_t found = 0;
  std::uint64_t largest = 0;
  std::size_t answered = 0;
  std::set<std::uint64_t> seen;
  for (const belief& g : grants) {
    for (; answered < by_answer.size() && by_answer[answered].from < g.asked; ++answered)
      largest = std::max(largest, by_answer[answered].token);
    if (g.token <= largest || !seen.insert(g.token).second) ++found;
  }
  return found;
}

// In milliseconds; 0 if there is nothing.
inline double percentile(std::vector<std::int64_t> ns, double part) {
  if (ns.empty()) return 0;
  std::sort(ns.begin(), ns.end());
  const auto last = static_cast<double>(ns.size() - 1);
  return static_cast<double>(ns[static_cast<std::size_t>(std::lround(last * part))]) / 1e6;
}

// How long after `moment` the next grant was; nothing: there was none.
inline std::optional<std::int64_t> next_grant(const std::vector<belief>& sorted,
                                              std::int64_t moment) {
  const auto next =
      std::find_if(sorted.begin(), sorted.end(), [&](const belief& b) { return b.from > moment; });
  if (next == sorted.end()) return std::nullopt;
  return next->from - moment;
}

}  // namespace afar::cli::demo
