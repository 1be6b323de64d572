// Nobody waits for what nobody has. Who wants several locks at once waits for one of them at a time, in an order
// that all keep to, and has the first ones meanwhile: the record shows what it has got on the way (act::acquired), and
// the others it wants only while nobody else has what it may be waiting for.
#include "torture/check.hpp"
#include "torture/spans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace afar::torture {
namespace {

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

// A thread of a process of the run.
struct actor {
  std::uint32_t worker = 0;
  std::uint32_t life = 0;
  std::uint16_t thread = no_thread;
  bool operator==(const actor&) const = default;
};

// Somebody had the object.
struct possession {
  span_of_time when;
  actor who;
  std::uint64_t token = 0;
  std::int64_t released =
      never;  // the answer to its release came; that leaves after the end of `when`
};

// Somebody waited for the object, and came back. `besides` are others that it wanted at the same time.
struct wish {
  span_of_time when;
  actor who;
  std::vector<std::uint16_t> besides = {};
};

// What it got, until it believed to hold it or let it go.
void add_acquired(const life& l, std::uint16_t object, std::vector<possession>& all) {
  std::map<std::uint64_t, possession> open;  // by token
  for (const fact& f : l.facts) {
    if (f.object != object) continue;
    if (f.what == act::acquired)
      open[f.token] = {{f.at, l.death}, {l.worker, l.number, f.thread}, f.token};
    if (f.what != act::granted && f.what != act::releasing && f.what != act::told_lost) continue;
    if (const auto at = open.find(f.token); at != open.end()) {
      at->second.when.to = f.at;
      all.push_back(at->second);
      open.erase(at);
    }
  }
  for (const auto& [token, had] : open) all.push_back(had);
}

// Sorted by begin.
std::vector<possession> possessions(const evidence& e, std::uint16_t object,
                                    const std::vector<belief>& all) {
  std::vector<possession> out;
  for (const belief& b : all)
    if (b.object == object) out.push_back({{b.from, b.to}, {b.worker, b.life, b.thread}, b.token});
  std::map<std::uint64_t, std::int64_t> released;  // by token
  for (const life& l : e.lives) {
    add_acquired(l, object, out);
    for (const fact& f : l.facts)
      if (f.object == object && f.what == act::released) released[f.token] = f.at;
  }
  for (possession& p : out)
    if (const auto at = released.find(p.token); at != released.end()) p.released = at->second;
  std::ranges::sort(out, {}, [](const possession& p) { return std::pair{p.when.from, p.when.to}; });
  return out;
}

void add_wishes(const life& l, std::uint16_t object, std::vector<wish>& all) {
  struct asking {
    std::vector<std::uint16_t>
        several;  // asked for without a deadline of their own, one after the other
    bool complete = true;
    bool one_of_several = false;        // the object is
    std::optional<std::int64_t> since;  // the object is asked for
  };
  std::map<std::uint16_t, asking> threads;
  for (const fact& f : l.facts) {
    if (f.what != act::asked && !comes_back(f.what)) continue;
    asking& a = threads[f.thread];
    if (f.what == act::asked) {
      const bool several = f.until == never;
      if (std::exchange(a.complete, !several)) a.several.clear();
      if (several) a.several.push_back(f.object);
      if (f.object != object) continue;
      a.since = f.at;
      a.one_of_several = several;
    } else if (f.object == object && a.since) {
      wish w{{*std::exchange(a.since, std::nullopt), f.at}, {l.worker, l.number, f.thread}};
      if (a.one_of_several) w.besides = a.several;
      std::erase(w.besides, object);
      all.push_back(std::move(w));
    }
  }
}

// When these waits could have ended, merged: of one that wants others besides, while nobody else had them.
std::vector<span_of_time> waits_of(
    const std::vector<wish>& wishes,
    const std::map<std::uint16_t, std::vector<possession>>& of_others) {
  std::vector<span_of_time> all;
  for (const wish& w : wishes) {
    std::vector<span_of_time> busy;
    for (const std::uint16_t other : w.besides)
      for (const possession& p : of_others.at(other))
        if (p.who != w.who && p.when.from < w.when.to && p.when.to > w.when.from)
          busy.push_back(p.when);
    const auto left = without(w.when, merged(std::move(busy)));
    all.insert(all.end(), left.begin(), left.end());
  }
  return merged(std::move(all));
}

// By process: when somebody of it could have had the object.
struct process_waits {
  const life* of = nullptr;
  std::vector<span_of_time> when = {};
};

std::vector<process_waits> waits(const evidence& e, std::uint16_t object,
                                 const std::vector<belief>& all) {
  std::vector<std::vector<wish>> wishes;
  std::map<std::uint16_t, std::vector<possession>> of_others;
  for (const life& l : e.lives) {
    add_wishes(l, object, wishes.emplace_back());
    for (const wish& w : wishes.back())
      for (const std::uint16_t other : w.besides)
        if (!of_others.contains(other)) of_others[other] = possessions(e, other, all);
  }
  std::vector<process_waits> out;
  out.reserve(wishes.size());
  for (std::size_t i = 0; i < wishes.size(); ++i)
    out.push_back({&e.lives[i], waits_of(wishes[i], of_others)});
  return out;
}

// When one who had let go, but whose release was not answered yet, could not run: it may not have left yet.
process_waits release_of(const evidence& e, const possession& last, std::int64_t until) {
  const auto of = std::ranges::find_if(e.lives, [&](const life& l) {
    return l.worker == last.who.worker && l.number == last.who.life;
  });
  const auto end = std::min(last.released, until);
  if (of == e.lives.end() || end <= last.when.to) return {};
  return {&*of, {{last.when.to, end}}};
}

// How much of that time one of those who waited could not run.
std::int64_t not_run(const evidence& e, const std::vector<process_waits>& waiting,
                     std::int64_t from, std::int64_t until) {
  constexpr std::int64_t noticeable = 20'000'000;  // shorter ones add up on every machine
  std::vector<span_of_time> lost;
  for (const auto& [of, when] : waiting) {
    const auto within = [&](const span_of_time& w) { return w.to > from && w.from < until; };
    if (std::ranges::none_of(when, within)) continue;
    const auto stalls = stalls_of(e, *of);
    for (const span_of_time& w : when)
      for (const span_of_time& s : stalls)
        if (within(w) && s.from < w.to && s.to > w.from && s.to - s.from >= noticeable)
          lost.push_back({std::max(s.from, w.from), std::min(s.to, w.to)});
  }
  return covered(merged(std::move(lost)), from, until);
}

}  // namespace

std::int64_t due_after(const evidence& e, std::int64_t from, std::int64_t until) {
  std::int64_t due = from + e.slack;
  for (const incident& i : e.incidents)
    if (i.from < until) due = std::max(due, i.to + e.crash_bound + e.slack);
  return due;
}

std::int64_t not_run(const evidence& e, std::uint16_t object, std::int64_t from,
                     std::int64_t until) {
  return not_run(e, waits(e, object, {}), from, until);
}

// While somebody waits for what nobody has, a grant comes soon: at once after a release, and when what
// the dead had is free after the last thing that was done to the run.
void check_wakes(const evidence& e, std::uint16_t object, const std::vector<belief>& all,
                 findings& out) {
  auto waiting = waits(e, object, all);
  std::vector<span_of_time> wanted;
  for (const process_waits& p : waiting) wanted.insert(wanted.end(), p.when.begin(), p.when.end());
  wanted = merged(std::move(wanted));
  waiting.emplace_back();  // for the release that all of them wait for
  std::optional<possession> last;
  auto w = wanted.begin();
  for (const possession& p : possessions(e, object, all)) {
    const std::int64_t got = p.when.from;
    if (last && got > last->when.to) {
      w = std::find_if(w, wanted.end(), [&](const span_of_time& s) { return s.to >= got; });
      if (w == wanted.end()) return;
      const std::int64_t from = std::max(last->when.to, w->from);
      const std::int64_t late = got - due_after(e, from, got);
      waiting.back() = release_of(e, *last, got);
      const std::int64_t lost = late > 0 ? not_run(e, waiting, from, got) : 0;
      if (late > lost)
        out.push_back(
            {"nobody waits for nothing", object, got,
             fmt::format("free and wanted for {:.0f} ms, of which some who wanted it, or "
                         "had let go of it, were not run for {:.0f} ms, and {:.0f} ms late",
                         ms(got - from), ms(lost), ms(late - lost))});
    }
    if (!last || p.when.to >= last->when.to) last = p;
  }
}

}  // namespace afar::torture
