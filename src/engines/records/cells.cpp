#include "engines/records/cells.hpp"

#include "engines/records/wrong_use.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>

namespace afar::engines::records {
namespace {

using spi::cell_action;
using spi::kind;

constexpr std::chrono::hours done_latch_life{24};

void copy(const cell_result& r, spi::cell_reply& reply) {
  reply.applied = r.applied;
  reply.exists = r.exists;
  reply.value = r.value;
  reply.before = r.before;
}

// The value after the change, or nullopt if the change is not applied.
std::optional<std::int64_t> wanted_value(const spi::cell_change& ch, std::int64_t old,
                                         spi::status& failed) {
  const bool latch = ch.what.kind == kind::latch;
  if (latch && old == 0) return std::nullopt;
  std::int64_t value = ch.operand;
  switch (ch.action) {
    case cell_action::add:
      if (__builtin_add_overflow(old, ch.operand, &value)) {
        failed = {errc::overflow, std::to_string(old) + " plus " + std::to_string(ch.operand)};
        return std::nullopt;
      }
      break;
    case cell_action::compare_exchange:
      if (old != ch.expected) return std::nullopt;
      break;
    case cell_action::store:
      break;
    case cell_action::load:
    case cell_action::erase:
      return std::nullopt;
  }
  if (latch) value = std::max<std::int64_t>(value, 0);
  if (value < ch.min || value > ch.max) return std::nullopt;
  return value;
}

void remember(cell& c, const spi::cell_change& ch, spi::time_point now,
              const spi::cell_reply& reply) {
  if (ch.id.owner == spi::owner_id{}) return;  // nobody is going to repeat it
  std::erase_if(c.results, [&](const cell_result& r) {
    const bool settled = r.op.same_client(ch.id.owner) && r.op.number < ch.id.settled;
    return settled || now - r.at > result_life;
  });
  if (c.results.size() >= most_results) c.results.erase(c.results.begin());
  c.results.push_back({ch.id.owner, reply.applied, reply.exists, reply.value, reply.before, now});
}

void erase(cell& c, spi::cell_reply& reply, cell_effects& e) {
  if (!c.exists) return;
  c.exists = false;
  c.value = 0;
  reply.applied = true;
  reply.value = 0;
  e.woke = true;
}

spi::status assign(cell& c, const spi::cell_change& ch, spi::cell_reply& reply, cell_effects& e) {
  if (!c.exists && !ch.initial) return {};
  spi::status failed;
  const auto value = wanted_value(ch, reply.before, failed);
  if (!value) return failed;
  e.woke = !c.exists || c.value != *value;
  c.kind = ch.what.kind;
  c.exists = true;
  c.value = *value;
  reply.applied = true;
  reply.value = *value;
  return {};
}

}  // namespace

spi::status change(cell& c, const spi::cell_change& ch, spi::time_point now, spi::cell_reply& reply,
                   cell_effects& e) {
  reply = {};
  if (ch.action != cell_action::load && ch.id.owner != spi::owner_id{}) {
    const auto known = std::ranges::find(c.results, ch.id.owner, &cell_result::op);
    if (known != c.results.end() && !AFAR_MUTANT("records.change.counts_twice")) {
      copy(*known, reply);
      return {};
    }
  }
  if (c.exists && c.kind != ch.what.kind) return wrong_use({c.kind}, {ch.what.kind});

  reply.exists = c.exists;
  reply.before = reply.value = c.exists ? c.value : ch.initial.value_or(0);
  if (ch.action == cell_action::load) {
    reply.applied = c.exists || ch.initial;
    return {};
  }
  if (ch.action == cell_action::erase) {
    erase(c, reply, e);
  } else if (auto failed = assign(c, ch, reply, e)) {
    return failed;
  }
  // What was not applied needs no memory: nobody has seen the answer, so a later one is as true.
  if (!reply.applied) return {};
  remember(c, ch, now, reply);
  c.changed_at = now;
  e.changed = true;
  return {};
}

bool collectable(const cell& c, spi::time_point now) {
  if (c.exists)
    return c.kind == kind::latch && c.value == 0 && now - c.changed_at > done_latch_life;
  return std::ranges::all_of(c.results,
                             [&](const cell_result& r) { return now - r.at > result_life; });
}

}  // namespace afar::engines::records
