// The rules of what comes in rounds: latch, counting_semaphore, barrier.
#include "torture/operations.hpp"

#include <afar/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace afar::torture {
namespace {

using kind = operation::kind;
using end = operation::end;

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

std::string who(const operation& o) { return fmt::format("worker {}.{}", o.worker, o.life); }

// What changes a count, and when; of those at one time the smaller order comes first.
struct mark {
  std::int64_t at;
  int order;
  const operation* of;
};

void sort_by_time(std::vector<mark>& marks) {
  std::ranges::sort(marks, {}, [](const mark& m) { return std::pair{m.at, m.order}; });
}

// ---- latch ------------------------------------------------------------------------------------------

// A latch never shows less than what the count-downs leave that had begun by the answer, and never more
// than somebody had seen before the question.
void check_count(std::uint16_t object, const std::vector<operation>& all, findings& out) {
  std::vector<mark> marks;
  for (const operation& o : all) {
    if (o.is == kind::change) marks.push_back({o.from, 0, &o});
    if (o.is == kind::change || o.ended != end::done) continue;
    marks.push_back({o.from, 1, &o});
    marks.push_back({o.to, 2, &o});
  }
  sort_by_time(marks);
  std::int64_t least = latch_count;
  std::int64_t seen = latch_count;                   // the smallest that anybody saw
  std::map<const operation*, std::int64_t> at_most;  // what was seen before the question
  for (const mark& m : marks) {
    const operation& o = *m.of;
    if (m.order == 0) least = std::max<std::int64_t>(0, least - o.weight);
    if (m.order == 1) at_most[&o] = seen;
    if (m.order != 2) continue;
    const std::int64_t value = o.is == kind::read ? o.value : 0;
    if (value < least)
      out.push_back({"a latch opens once", object, o.to,
                     fmt::format("{} saw {} of round {} when at least {} were left", who(o), value,
                                 o.round, least)});
    if (value > at_most[&o])
      out.push_back({"a latch opens once", object, o.to,
                     fmt::format("{} saw {} of round {} after {} had been seen", who(o), value,
                                 o.round, at_most[&o])});
    seen = std::min(seen, value);
  }
}

// Who waits for an open latch passes.
void check_passage(const evidence& e, std::uint16_t object, const std::vector<operation>& all,
                   findings& out) {
  std::int64_t open = never;
  for (const operation& o : all)
    if (o.ended == end::done && (o.is == kind::wait || (o.is == kind::read && o.value == 0)))
      open = std::min(open, o.to);
  if (open == never) return;
  for (const operation& o : all) {
    if (o.is != kind::wait || o.ended == end::died) continue;
    const std::int64_t from = std::max(open, o.from);
    const std::int64_t late = o.to - due_after(e, from, o.to);
    if (late > 0 && late > not_run(e, object, from, o.to))
      out.push_back({"nobody waits for nothing", object, o.to,
                     fmt::format("{} waited for the open latch of round {} for {:.0f} ms", who(o),
                                 o.round, ms(o.to - from))});
  }
}

// ---- counting_semaphore -----------------------------------------------------------------------------

// What is certainly taken: from the answer to the begin of the return. What the dead had stays taken.
void check_taken(std::uint16_t object, const std::vector<operation>& all, findings& out) {
  std::vector<mark> marks;
  for (const operation& o : all) {
    if (o.is == kind::change) marks.push_back({o.from, 0, &o});
    if (o.is == kind::wait && o.ended == end::done) marks.push_back({o.to, 1, &o});
    if (o.is == kind::read && o.ended == end::done && (o.value < 0 || o.value > permits))
      out.push_back(
          {"permits are conserved", object, o.to,
           fmt::format("{} saw {} of {} free in round {}", who(o), o.value, permits, o.round)});
  }
  sort_by_time(marks);
  std::int64_t taken = 0;
  for (const mark& m : marks) {
    taken += m.order == 1 ? 1 : -1;
    if (m.order == 1 && taken > permits)
      out.push_back({"permits are conserved", object, m.at,
                     fmt::format("{} got permit {} of {} in round {}", who(*m.of), taken, permits,
                                 m.of->round)});
  }
}

// At the end there are those that were not taken or came back, give or take what nobody knows.
void check_balance(std::uint16_t object, std::uint64_t round, const std::vector<operation>& all,
                   std::int64_t left, findings& out) {
  std::int64_t sure = permits;
  std::int64_t maybe_taken = 0;
  std::int64_t maybe_back = 0;
  for (const operation& o : all) {
    if (o.is == kind::read) continue;
    const bool done = o.ended == end::done;
    if (o.is == kind::wait && done) --sure;
    // One that gives up gives back what its last try took, if it lives to do so.
    const bool too_late = o.ended == end::gave_up && o.value == static_cast<int>(errc::timed_out);
    if (o.is == kind::wait && !done && (!too_late || o.killed)) ++maybe_taken;
    if (o.is == kind::change) ++(done ? sure : maybe_back);
  }
  if (left < sure - maybe_taken || left > sure + maybe_back)
    out.push_back({"permits are conserved", object, 0,
                   fmt::format("{} free at the end of round {} instead of {}, {} may be gone and "
                               "{} have come back",
                               left, round, sure, maybe_taken, maybe_back)});
}

// ---- liveness ---------------------------------------------------------------------------------------

// How many wait, how many could pass, and since when nobody has: of a semaphore those that want a permit
// and the permits that nobody has or may have, of a barrier those that have come.
void check_progress(const evidence& e, const object& o, std::uint16_t object,
                    const std::vector<operation>& all, findings& out) {
  const bool meets = o.sort == sort::barrier;
  std::vector<mark> marks;
  for (const operation& op : all) {
    if (op.is == kind::wait) {
      marks.push_back({op.from, 0, &op});
      if (op.to != never) marks.push_back({op.to, 1, &op});
    } else if (op.is == kind::change && op.ended == end::done) {
      marks.push_back({op.to, 2, &op});  // a permit is back
    }
  }
  sort_by_time(marks);
  std::int64_t waiting = 0;
  std::int64_t free = permits;
  std::int64_t since = never;
  for (const mark& m : marks) {
    const bool passed = m.order == 1 && m.of->ended == end::done;
    const std::int64_t late = since == never ? 0 : m.at - due_after(e, since, m.at);
    if (late > 0 && late > not_run(e, object, since, m.at)) {
      out.push_back({"nobody waits for nothing", object, m.at,
                     fmt::format("{} could go on in round {} for {:.0f} ms and did not",
                                 meets ? "all of a barrier" : "one that wants a permit",
                                 m.of->round, ms(m.at - since))});
      return;
    }
    if (m.order == 0) ++waiting;
    if (m.order == 1) {
      --waiting;
      // One that is gone, or gave up, may have taken one along.
      --free;
      const bool came_back = !passed && m.of->ended == end::gave_up && !m.of->killed;
      if (came_back) ++free;
    }
    if (m.order == 2) ++free;
    const bool could = meets ? waiting >= participants : waiting > 0 && free > 0;
    if (!could)
      since = never;
    else if (since == never || passed)
      since = m.at;
  }
}

// ---- barrier ----------------------------------------------------------------------------------------

// When something kept participants from being heard: what was done to the run, and processes that did not
// run for a good part of their lease.
std::vector<span_of_time> disturbances(const evidence& e) {
  std::vector<span_of_time> all;
  all.reserve(e.incidents.size());
  for (const incident& i : e.incidents) all.push_back({i.from, i.to});
  for (const life& l : e.lives)
    for (const fact& f : l.facts)
      if (f.what == act::stalled && f.at - f.until > e.lease / 3) all.push_back({f.until, f.at});
  return all;
}

bool broken(const operation& o) {
  return o.ended == end::gave_up && o.value == static_cast<int>(errc::broken);
}
bool passed(const operation& o) { return o.ended == end::done; }

// It may have been counted as there, with or without an answer.
bool doubtful(const operation& o) { return !passed(o) && !broken(o); }

// The begin of the first one that is doubtful.
std::int64_t sure_until(const std::vector<operation>& all) {
  std::int64_t sure = never;
  for (const operation& o : all)
    if (doubtful(o)) sure = std::min(sure, o.from);
  return sure;
}

std::int64_t gone_by(const evidence& e, const operation& o) {
  if (passed(o)) return o.to;
  return o.to > never - e.crash_bound ? never : o.to + e.crash_bound;
}

// Nobody passes unless so many were there at one time.
void check_presence(const evidence& e, std::uint16_t object, const std::vector<operation>& all,
                    findings& out) {
  std::vector<mark> marks;
  for (const operation& o : all) {
    if (broken(o)) continue;
    marks.push_back({o.from, 0, &o});
    marks.push_back({gone_by(e, o), 1, &o});
  }
  sort_by_time(marks);
  std::uint32_t there = 0;
  std::int64_t last_full = -1;  // the latest time at which enough were there
  for (const mark& m : marks) {
    if (there >= participants) last_full = m.at;
    if (m.order == 0) {
      if (++there >= participants) last_full = m.at;
      continue;
    }
    if (passed(*m.of) && last_full < m.of->from)
      out.push_back({"a barrier opens when all are there", object, m.at,
                     fmt::format("{} passed round {} without {} others", who(*m.of), m.of->round,
                                 participants - 1)});
    --there;
  }
}

// Those who pass do so in groups of which each was there at one time: whoever is the next to leave goes with
// those who are there and leave next. As long as nobody is in doubt, there is no other way.
void check_groups(std::int64_t sure, std::uint16_t object, const std::vector<operation>& all,
                  findings& out) {
  std::vector<const operation*> by_end;
  for (const operation& o : all)
    if (passed(o)) by_end.push_back(&o);
  std::ranges::sort(by_end, {}, [](const operation* o) { return o->to; });
  std::set<const operation*> grouped;
  for (std::size_t i = 0; i < by_end.size(); ++i) {
    const operation& first = *by_end[i];
    if (first.to >= sure) return;
    if (grouped.contains(&first)) continue;
    std::uint32_t group = 1;
    for (std::size_t j = i + 1; j < by_end.size() && group < participants; ++j)
      if (by_end[j]->from <= first.to && grouped.insert(by_end[j]).second) ++group;
    if (group < participants)
      out.push_back({"a barrier opens when all are there", object, first.to,
                     fmt::format("{} passed round {} with {} of those who were there", who(first),
                                 first.round, group - 1)});
  }
}

// A barrier breaks only if somebody has left it, or may be taken for gone.
void check_breaks(const evidence& e, const std::vector<span_of_time>& disturbed, std::int64_t sure,
                  std::uint16_t object, const std::vector<operation>& all, findings& out) {
  for (const operation& o : all) {
    if (!broken(o) || sure < o.to) continue;
    const bool excused = std::ranges::any_of(disturbed, [&](const span_of_time& d) {
      return d.from < o.to && d.to + e.crash_bound > o.from;
    });
    if (!excused)
      out.push_back(
          {"a barrier opens when all are there", object, o.to,
           fmt::format("{}: round {} was broken although nobody had left", who(o), o.round)});
  }
}

}  // namespace

void check_latch(const evidence& e, std::uint16_t object, findings& out) {
  for (const auto& [round, all] : operations(e, object)) {
    check_count(object, all, out);
    check_passage(e, object, all, out);
  }
}

void check_semaphore(const evidence& e, std::uint16_t object, findings& out) {
  for (const auto& [round, all] : operations(e, object)) {
    check_taken(object, all, out);
    check_progress(e, e.objects[object], object, all, out);
    if (const auto left = e.left.find({object, round}); left != e.left.end())
      check_balance(object, round, all, left->second, out);
  }
}

void check_barrier(const evidence& e, std::uint16_t object, findings& out) {
  const auto disturbed = disturbances(e);
  for (const auto& [round, all] : operations(e, object)) {
    const std::int64_t sure = sure_until(all);
    check_presence(e, object, all, out);
    check_groups(sure, object, all, out);
    check_breaks(e, disturbed, sure, object, all, out);
    check_progress(e, e.objects[object], object, all, out);
  }
}

}  // namespace afar::torture
