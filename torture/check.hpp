// What the records of all processes say together. Every rule is one sweep over time; its name is that
// of docs/torture.md.
#pragma once

#include "torture/crew.hpp"
#include "torture/plan.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace afar::torture {

// Something that was done to the run.
struct incident {
  std::string fault;
  std::int64_t from = 0;
  std::int64_t to = 0;
  bool bit = false;      // it hit what it was aimed at
  bool forgets = false;  // the engine may forget what it had confirmed (docs/guarantees.md)
};

// All there is to judge.
struct evidence {
  std::vector<object> objects;
  std::vector<life> lives;
  std::vector<incident> incidents;
  std::vector<stop_made> stops;
  std::vector<entry> writes;                          // as they went through the fences
  std::map<std::uint16_t, std::int64_t> final_value;  // of counters; of stocks: units taken
  std::map<std::uint16_t, std::int64_t> sold;         // of stocks: orders that hold, asked again
  // Of counting_semaphores, by object and round: permits that were free at the end.
  std::map<std::pair<std::uint16_t, std::uint64_t>, std::int64_t> left;
  std::int64_t lease = 500'000'000;  // who is silent for longer is given up
  std::int64_t crash_bound = 0;      // what a dead process held is free by then
  // For a wake-up: a waiter that was not told looks every second, and the machine is busy.
  std::int64_t slack = 2'000'000'000;
};

struct violation {
  std::string rule;
  std::uint16_t object = 0;
  std::int64_t at = 0;
  std::string text;
};

enum class ending : std::uint8_t { released, told, died, expired };

// From when to when a process had reason to think that it held something. One that is empty, since the
// answer came too late, is still a grant with a token.
struct belief {
  std::uint16_t object = 0;
  std::uint64_t token = 0;
  std::uint32_t weight = 1;
  std::int64_t asked = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  ending end = ending::expired;
  std::uint32_t worker = 0;
  std::uint32_t life = 0;
  std::uint16_t thread = 0;
};

// Sorted by object, then by begin.
std::vector<belief> beliefs(const evidence&);

// Each adds what it finds; `held` are all beliefs of one object, `all` those of all.
using findings = std::vector<violation>;
void check_overlaps(const object&, const std::vector<belief>& held, findings&);
void check_tokens(const object&, const std::vector<belief>& held, findings&);
void check_order(const evidence&, const object&, const std::vector<belief>& held, findings&);
void check_wakes(const evidence&, std::uint16_t object, const std::vector<belief>& all, findings&);
void check_deadlines(const evidence&, findings&);
void check_writes(const evidence&, findings&);
void check_counter(const evidence&, std::uint16_t object, findings&);
void check_stock(const evidence&, std::uint16_t object, findings&);
void check_latch(const evidence&, std::uint16_t object, findings&);
void check_semaphore(const evidence&, std::uint16_t object, findings&);
void check_barrier(const evidence&, std::uint16_t object, findings&);
void check_together(const evidence&, std::uint16_t object, findings&);
void check_let_go(const evidence&, findings&);
void check_words(const evidence&, findings&);  // what workers found themselves

// How much was searched for an order that explains it (linear.hpp).
struct searched {
  std::uint64_t operations = 0;
  std::uint64_t histories = 0;  // counters, stocks, latches of every round
  std::uint64_t left_out = 0;   // operations of those that have too many possible orders
};
void check_orders(const evidence&, std::uint16_t object, searched&, findings&);

// When what was possible at `from` should have happened, in view of what was done to the run before `until`.
std::int64_t due_after(const evidence&, std::int64_t from, std::int64_t until);
// How much of that time somebody who waited for the object could not run: it may have been his turn.
std::int64_t not_run(const evidence&, std::uint16_t object, std::int64_t from, std::int64_t until);

// All of them.
findings check(const evidence&, searched* = nullptr);

// Takes out what the guarantees do not cover: after an engine forgot what it had confirmed, a second
// holder for as long as the first believes, and changes that are gone. Tokens and fences hold also then.
findings take_outside(const evidence&, findings&);

}  // namespace afar::torture
