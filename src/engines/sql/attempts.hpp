// One step on one row, tried until nobody else comes between reading and storing.
#pragma once

#include "engines/sql/row.hpp"
#include "engines/sql/steps.hpp"

#include <utility>

namespace afar::engines::sql {

// Who is to be told of a change.
struct news {
  std::vector<bell_call> calls = {};  // sorted
  std::string called = {};            // the one claim that it is for; empty: everybody
  bool any = false;                   // for those in line
  bool shown = false;                 // for those who watch the name
};

// Those who watch the name, if there are any.
void add_watchers(const desk&, std::string_view name, const row&, news&);

void each_once(std::vector<bell_call>&);

// A pause that grows with the attempts, so that many clients on one row do not keep on meeting.
void pause_after(int attempts);

// Throws failure when the time is over.
void check_time(const desk&);

// Repeats what the server has certainly not done. `body` does all of it again.
template <class Body>
auto insistently(const desk& d, Body body) {
  for (int attempts = 1;; ++attempts) {
    try {
      return body();
    } catch (const failure& f) {
      if (!f.again || boot_clock::now() >= d.by) throw;
    }
    pause_after(attempts);
  }
}

// What a step on a row comes to, and whether the row is to be stored.
struct verdict {
  spi::status status = {};
  bool changed = false;
};

// `body(before, after, news)` may run several times; it fills `after` and answers with a verdict.
// `outrun()` is called when somebody else was faster.
template <class Body, class Outrun>
spi::status on_row(const desk& d, std::string_view name, Body body, Outrun outrun) {
  for (int attempts = 1;; ++attempts) {
    check_time(d);
    bool stored = false;
    verdict v = insistently(d, [&] {
      const row before = load(d.on, name);
      row after = before;
      news n;
      verdict said = body(before, after, n);
      stored = !said.changed;
      if (stored) return said;
      if (n.shown && before.watched()) add_watchers(d, name, before, n);
      if (n.any) {
        ++after.rings;
        after.called = n.called;
      }
      stored = store(d.on, name, before, after, end_of(d), n.calls);
      return said;
    });
    if (stored) return v.status;
    outrun();
    pause_after(attempts);
  }
}

template <class Body>
spi::status on_row(const desk& d, std::string_view name, Body body) {
  return on_row(d, name, std::move(body), [] {});
}

}  // namespace afar::engines::sql
