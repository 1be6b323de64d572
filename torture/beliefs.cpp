#include "torture/check.hpp"

#include <algorithm>
#include <tuple>

namespace afar::torture {
namespace {

// What is known of one grant while its facts are read.
struct growing_belief {
  belief b;
  std::int64_t until = 0;       // as far as renewals moved it
  std::int64_t seen_valid = 0;  // it said so itself then
  std::int64_t done = never;
  std::int64_t releasing = never;  // by the library: later than `done`, and what counts
  std::int64_t told = never;
};

belief concluded(const growing_belief& g, std::int64_t death) {
  belief b = g.b;
  // A process that was killed on the way from `done` to the library still held it.
  const std::int64_t let_go = g.releasing != never ? g.releasing : g.done;
  b.to = std::min({g.until, g.told, let_go, death});
  b.end = ending::expired;
  if (b.to == death) b.end = ending::died;
  if (b.to == g.told) b.end = ending::told;
  if (b.to == let_go) b.end = ending::released;
  b.to = std::max(b.to, std::min(g.seen_valid, let_go));
  return b;
}

}  // namespace

std::vector<belief> beliefs(const evidence& e) {
  std::vector<belief> all;
  for (const life& l : e.lives) {
    std::map<std::pair<std::uint16_t, std::uint64_t>, growing_belief> open;
    // By object and thread: one that wants several at once asks for each.
    std::map<std::pair<std::uint16_t, std::uint16_t>, std::pair<std::int64_t, std::uint32_t>> asked;
    for (const fact& f : l.facts) {
      if (f.what == act::asked) asked[{f.object, f.thread}] = {f.at, f.weight};
      if (f.what == act::granted) {
        auto [at, fresh] = open.try_emplace({f.object, f.token});
        if (!fresh) {  // twice the same token: both are kept, the rule for tokens finds them
          all.push_back(concluded(at->second, l.death));
          at->second = {};
        }
        at->second.b = {.object = f.object,
                        .token = f.token,
                        .weight = asked[{f.object, f.thread}].second,
                        .asked = asked[{f.object, f.thread}].first,
                        .from = f.at,
                        .worker = l.worker,
                        .life = l.number,
                        .thread = f.thread};
        at->second.until = f.until;
      }
      const auto at = open.find({f.object, f.token});
      if (at == open.end()) continue;
      growing_belief& g = at->second;
      if (f.what == act::valid) {
        g.until = std::max(g.until, f.until);
        g.seen_valid = std::max(g.seen_valid, f.at);
      }
      if (f.what == act::done) g.done = std::min(g.done, f.at);
      if (f.what == act::told_lost) g.told = std::min(g.told, f.at);
      if (f.what == act::releasing) g.releasing = std::min(g.releasing, f.at);
    }
    for (const auto& [key, g] : open) all.push_back(concluded(g, l.death));
  }
  std::ranges::sort(all, {}, [](const belief& b) { return std::tuple{b.object, b.from, b.to}; });
  return all;
}

}  // namespace afar::torture
