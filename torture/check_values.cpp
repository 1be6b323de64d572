// The rules of counters and stocks, and the search for an order of what was done to a value.
#include "torture/linear.hpp"
#include "torture/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace afar::torture {

// Additions of one are linearizable if no two saw the same value, who came after another's answer saw
// more, and nothing is missing at the end but what may have happened.
void check_counter(const evidence& e, std::uint16_t object, findings& out) {
  struct change {
    std::int64_t from, to, before;
  };
  std::vector<change> all;
  std::int64_t doubtful = 0;
  for (const life& l : e.lives) {
    std::map<std::uint16_t, std::int64_t> begun;
    for (const fact& f : l.facts) {
      if (f.object != object) continue;
      if (f.what == act::changing) begun[f.thread] = f.at;
      if (f.what == act::changed) all.push_back({begun[f.thread], f.at, f.value});
      if (f.what == act::unknown) ++doubtful;
      if (f.what == act::changed || f.what == act::unknown) begun.erase(f.thread);
    }
    doubtful += static_cast<std::int64_t>(begun.size());  // killed in the middle
  }
  std::vector<change> by_answer = all;
  std::ranges::sort(all, {}, &change::from);
  std::ranges::sort(by_answer, {}, &change::to);
  std::set<std::int64_t> seen;
  std::int64_t most = -1;
  std::size_t answered = 0;
  for (const change& c : all) {
    for (; answered < by_answer.size() && by_answer[answered].to < c.from; ++answered)
      most = std::max(most, by_answer[answered].before);
    if (c.before <= most)
      out.push_back({"changes count once", object, c.to,
                     fmt::format("saw {} after another had seen {}", c.before, most)});
    if (!seen.insert(c.before).second)
      out.push_back({"changes count once", object, c.to, fmt::format("two saw {}", c.before)});
  }
  const auto sure = static_cast<std::int64_t>(all.size());
  const std::int64_t final = e.final_value.contains(object) ? e.final_value.at(object) : 0;
  if (final < sure || final > sure + doubtful)
    out.push_back({"changes count once", object, 0,
                   fmt::format("{} at the end after {} additions and {} that may have happened",
                               final, sure, doubtful)});
}

void check_stock(const evidence& e, std::uint16_t object, findings& out) {
  std::int64_t told = 0;
  for (const life& l : e.lives)
    for (const fact& f : l.facts)
      if (f.object == object && f.what == act::changed) told += f.value;
  const std::int64_t taken = e.final_value.contains(object) ? e.final_value.at(object) : 0;
  const std::int64_t sold = e.sold.contains(object) ? e.sold.at(object) : 0;
  if (taken != sold || sold < told)
    out.push_back(
        {"changes count once", object, 0,
         fmt::format("{} units taken for {} orders, of which {} were told", taken, sold, told)});
}

namespace {

deed_done as_deed(sort s, const operation& o) {
  deed_done d{.from = o.from, .to = o.to, .known = o.ended == operation::end::done};
  d.result = o.value;
  switch (o.is) {
    case operation::kind::read:
      d.what = deed::read;
      break;
    case operation::kind::wait:
      d.what = deed::pass;
      break;
    case operation::kind::change:
      d.what = s == sort::counter         ? deed::add
               : s == sort::latch         ? deed::down
               : !d.known || o.value != 0 ? deed::take
                                          : deed::refuse;
      d.amount = std::max<std::int64_t>(1, o.weight);
      break;
  }
  return d;
}

const char* words(deed d) {
  switch (d) {
    case deed::add:
      return "an addition saw";
    case deed::take:
    case deed::refuse:
      return "an order of";
    case deed::down:
      return "a count-down of";
    case deed::read:
      return "a read saw";
    case deed::pass:
      return "a wait saw";
  }
  return "";
}

}  // namespace

void check_orders(const evidence& e, std::uint16_t object, searched& how_much, findings& out) {
  const sort s = e.objects[object].sort;
  if (s != sort::counter && s != sort::stock && s != sort::latch) return;
  for (const auto& [round, all] : operations(e, object)) {
    deeds history{
        .initial = s == sort::latch ? std::int64_t{latch_count} : 0, .limit = units, .all = {}};
    history.all.reserve(all.size() + 1);
    std::int64_t last = 0;
    for (const operation& o : all) {
      history.all.push_back(as_deed(s, o));
      if (history.all.back().known) last = std::max(last, o.to);
    }
    if (const auto final = e.final_value.find(object); final != e.final_value.end())
      history.all.push_back(
          {.what = deed::read, .result = final->second, .from = never - 1, .to = never});
    const explanation found = explain(history);
    if (found.is == explanation::outcome::too_many) {
      how_much.left_out += history.all.size();
      continue;
    }
    ++how_much.histories;
    how_much.operations += history.all.size();
    if (found.is == explanation::outcome::none)
      out.push_back({"one order explains it", object, std::min(last, found.culprit->to),
                     fmt::format("{} {}, and no order of all that was done explains it",
                                 words(found.culprit->what), found.culprit->result)});
  }
}

}  // namespace afar::torture
