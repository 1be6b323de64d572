#include "torture/check.hpp"
#include "torture/spans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace afar::torture {
namespace {

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

std::string who(const belief& b) {
  return fmt::format("worker {}.{} with token {}", b.worker, b.life, b.token);
}

}  // namespace

void check_overlaps(const object& o, const std::vector<belief>& held, findings& out) {
  struct point {
    std::int64_t at;
    bool begins;
    const belief* b;
  };
  std::vector<point> points;
  for (const belief& b : held) {
    if (b.to <= b.from) continue;  // it was over before the caller heard of it
    points.push_back({b.from, true, &b});
    points.push_back({b.to, false, &b});
  }
  std::ranges::sort(points, {}, [](const point& p) { return std::pair{p.at, p.begins}; });
  std::uint64_t weight = 0;
  std::set<const belief*> now;
  for (const point& p : points) {
    if (!p.begins) {
      weight -= p.b->weight;
      now.erase(p.b);
      continue;
    }
    weight += p.b->weight;
    if (weight > o.capacity())
      out.push_back({"one holder at a time", p.b->object, p.at,
                     fmt::format("{} got it while {} held it", who(*p.b),
                                 now.empty() ? "nobody" : who(**now.begin()))});
    now.insert(p.b);
  }
}

// A grant whose request began after another was answered has the larger token, and no two share one.
void check_tokens(const object&, const std::vector<belief>& held, findings& out) {
  std::vector<belief> by_asking = held;
  std::ranges::sort(by_asking, {}, &belief::asked);
  std::uint64_t largest = 0;
  std::size_t answered = 0;  // `held` is sorted by answers
  std::set<std::uint64_t> seen;
  for (const belief& b : by_asking) {
    for (; answered < held.size() && held[answered].from < b.asked; ++answered)
      largest = std::max(largest, held[answered].token);
    if (b.token <= largest)
      out.push_back({"tokens grow", b.object, b.from,
                     fmt::format("{} came after token {}", who(b), largest)});
    if (!seen.insert(b.token).second)
      out.push_back({"tokens grow", b.object, b.from, fmt::format("{} had it twice", who(b))});
  }
}

// Of a fair lock: who asked long before another is served first. "Long" is what it takes to stand in
// line; while something was done to the run, anybody may have been thrown out of it.
void check_order(const evidence& e, const object& o, const std::vector<belief>& held,
                 findings& out) {
  if (o.sort != sort::fair_mutex) return;
  const belief* youngest = nullptr;
  for (const belief& b : held) {
    if (youngest && b.asked + e.slack < youngest->asked) {
      const bool disturbed = std::ranges::any_of(e.incidents, [&](const incident& i) {
        return i.from < b.from && i.to + e.crash_bound > b.asked;
      });
      if (!disturbed)
        out.push_back({"first come, first served", b.object, b.from,
                       fmt::format("{} had asked {:.0f} ms before {} and got it after it", who(b),
                                   ms(youngest->asked - b.asked), who(*youngest))});
    }
    if (!youngest || b.asked > youngest->asked) youngest = &b;
  }
}

void check_deadlines(const evidence& e, findings& out) {
  constexpr std::int64_t grace = 100'000'000;
  for (const life& l : e.lives) {
    const auto stalls = stalls_of(e, l);
    std::map<std::pair<std::uint16_t, std::uint16_t>, fact> asked;  // by object and thread
    for (const fact& f : l.facts) {
      if (f.what == act::asked) asked[{f.object, f.thread}] = f;
      if (!comes_back(f.what)) continue;
      const fact& a = asked[{f.object, f.thread}];
      const std::int64_t late = f.at - a.until;
      // What the thread or the whole process could not run is not the library's time.
      const std::int64_t delayed = f.delayed - a.delayed;
      const std::int64_t stalled = covered(stalls, a.at, f.at + grace);
      if (late - delayed - stalled <= grace) continue;
      out.push_back(
          {"deadlines hold", f.object, f.at,
           fmt::format("worker {}.{}: a call came back {:.0f} ms late, {:.0f} ms of which its "
                       "thread was not run and {:.0f} ms the process stood still",
                       l.worker, l.number, ms(late), ms(delayed), ms(stalled))});
    }
  }
}

void check_writes(const evidence& e, findings& out) {
  std::map<std::uint64_t, std::uint64_t> largest;
  for (const entry& line : e.writes) {
    std::uint64_t& most = largest[line.object];
    if (line.token < most)
      out.push_back({"no stale write", static_cast<std::uint16_t>(line.object), 0,
                     fmt::format("token {} wrote after {}", line.token, most)});
    most = std::max(most, line.token);
  }
}

void check_words(const evidence& e, findings& out) {
  static constexpr const char* texts[] = {"", "a deeper lock had another token",
                                          "the depth was wrong", "valid again after a loss"};
  for (const life& l : e.lives)
    for (const fact& f : l.facts)
      if (f.what == act::broke)
        out.push_back({"told before taken", f.object, f.at,
                       fmt::format("worker {}.{}, token {}: {}", l.worker, l.number, f.token,
                                   texts[f.value])});
}

// All of several locks or none: who was told yes has them all, who was told no has none, and what was got
// on the way to a no is let go. (Its members are judged as locks besides.)
void check_together(const evidence& e, std::uint16_t object, findings& out) {
  for (const life& l : e.lives)
    for (const fact& f : l.facts) {
      if (f.object != object) continue;
      const bool part = f.what == act::passed && f.value != static_cast<std::int64_t>(f.weight);
      const bool rest = f.what == act::gave_up && f.token != 0;
      if (part || rest)
        out.push_back({"all or none", object, f.at,
                       fmt::format("worker {}.{} was told {} and had {} of the locks", l.worker,
                                   l.number, part ? "yes" : "no",
                                   part ? f.value : static_cast<std::int64_t>(f.token))});
    }
}

void check_let_go(const evidence& e, findings& out) {
  for (const life& l : e.lives) {
    std::map<std::pair<std::uint16_t, std::uint64_t>, std::int64_t> got;
    for (const fact& f : l.facts) {
      if (f.what == act::acquired) got[{f.object, f.token}] = f.at;
      if (f.what == act::granted || f.what == act::releasing || f.what == act::told_lost)
        got.erase({f.object, f.token});
    }
    for (const auto& [lock, at] : got)
      if (l.death == never || l.death > due_after(e, at, l.death))
        out.push_back({"all or none", lock.first, at,
                       fmt::format("worker {}.{} got token {}, gave it to nobody and kept it",
                                   l.worker, l.number, lock.second)});
  }
}

namespace {

void check_lock(const evidence& e, std::uint16_t i, const std::vector<belief>& all, findings& out) {
  std::vector<belief> held;
  std::ranges::copy_if(all, std::back_inserter(held),
                       [&](const belief& b) { return b.object == i; });
  const object& o = e.objects[i];
  check_overlaps(o, held, out);
  check_tokens(o, held, out);
  check_order(e, o, held, out);
  check_wakes(e, i, all, out);
}

void check_object(const evidence& e, std::uint16_t i, const std::vector<belief>& all,
                  findings& out) {
  switch (e.objects[i].sort) {
    case sort::mutex:
    case sort::fair_mutex:
    case sort::recursive_mutex:
    case sort::shared_mutex:
    case sort::leased_semaphore:
    case sort::election:
      return check_lock(e, i, all, out);
    case sort::counter:
      return check_counter(e, i, out);
    case sort::stock:
      return check_stock(e, i, out);
    case sort::latch:
      return check_latch(e, i, out);
    case sort::counting_semaphore:
      return check_semaphore(e, i, out);
    case sort::barrier:
      return check_barrier(e, i, out);
    case sort::multi_lock:
      return check_together(e, i, out);
  }
}

}  // namespace

findings check(const evidence& e, searched* how_much) {
  findings out;
  searched unread;
  const std::vector<belief> all = beliefs(e);
  for (std::uint16_t i = 0; i < static_cast<std::uint16_t>(e.objects.size()); ++i) {
    const auto before = out.size();
    check_object(e, i, all, out);
    // The sweeps say more about what they find.
    if (out.size() == before) check_orders(e, i, how_much ? *how_much : unread, out);
  }
  check_let_go(e, out);
  check_deadlines(e, out);
  check_writes(e, out);
  check_words(e, out);
  std::ranges::sort(out, {}, [](const violation& v) { return std::pair{v.at, v.text}; });
  return out;
}

namespace {

bool is_about_values(std::string_view rule) {
  return rule == "changes count once" || rule == "one order explains it" ||
         rule == "a latch opens once" || rule == "permits are conserved";
}
bool is_about_holders(std::string_view rule) {
  return rule == "one holder at a time" || rule == "a barrier opens when all are there";
}

}  // namespace

findings take_outside(const evidence& e, findings& all) {
  const auto is_outside = [&](const violation& v) {
    return std::ranges::any_of(e.incidents, [&](const incident& i) {
      if (!i.forgets) return false;
      if (is_about_values(v.rule)) return true;
      return is_about_holders(v.rule) && v.at > i.from && v.at < i.to + e.crash_bound;
    });
  };
  findings out;
  std::ranges::copy_if(all, std::back_inserter(out), is_outside);
  std::erase_if(all, is_outside);
  return out;
}

}  // namespace afar::torture
