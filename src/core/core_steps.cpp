// The calls of the core that are one step of the engine, repeated until it is answered, or until its
// answer is the one that is waited for.
#include "core/claim_op.hpp"
#include "core/core.hpp"
#include "core/hold_state.hpp"
#include "core/step_op.hpp"
#include "core/take_back.hpp"

#include <thread>
#include <utility>

namespace afar::detail {

namespace {

struct convert_step {
  using reply = spi::acquire_reply;
  spi::claim claim;
  spi::time_point* sent;

  void send(core& c, spi::time_point by, spi::done<reply> done) {
    *sent = boot_clock::now();
    c.engine().acquire(claim, by, std::move(done));
  }
  wait_op::attempted judge(core&, const reply&) { return {.done = true}; }
  void settle(core&) {}
};

struct renew_step {
  using reply = spi::renew_reply;
  hold_ptr state;
  spi::claim* claim;
  spi::time_point* sent;

  void send(core& c, spi::time_point by, spi::done<reply> done) {
    *sent = boot_clock::now();
    c.engine().renew(
        {&claim, 1}, by,
        [done = std::move(done)](std::size_t, spi::status s, spi::renew_reply r) mutable {
          done(std::move(s), r);
        });
  }
  wait_op::attempted judge(core&, const reply&) { return {.done = true}; }
  void settle(core&) {}
};

struct cell_step {
  using reply = spi::cell_reply;
  using until = cell_request::until;
  cell_request request;
  bool numbered = false;
  bool applied = false;

  void send(core& c, spi::time_point by, spi::done<reply> done) {
    // A new number for a new wish; the old one only when an answer was lost.
    if (!std::exchange(numbered, true)) request.change.id = c.begin_op();
    c.engine().change(request.change, by, std::move(done));
  }
  wait_op::attempted judge(core& c, const reply& r) {
    settle(c);
    applied = r.applied;
    return {.done = reached(r), .watch_key = r.watch_key};
  }
  // An attempt of a wait that nobody waits for any more: it was applied, or may have been.
  bool take_back(core& c, function<void()> done) {
    if (request.goal != until::applied || !(numbered || applied)) return false;
    numbered = false;  // the number ends with what is taken back
    std::make_shared<detail::take_back>(c, std::move(request), std::move(done))->start(applied);
    return true;
  }
  void settle(core& c) {
    if (std::exchange(numbered, false)) c.end_op(request.change.id);
  }
  bool reached(const reply& r) const {
    switch (request.goal) {
      case until::answered:
        return true;
      case until::applied:
        return r.applied;
      case until::changed:
        return r.value != request.change.operand;
      case until::zero:
        return r.exists && r.value == 0;
    }
    return true;
  }
};

struct ledger_step {
  using reply = spi::ledger_reply;
  spi::ledger_change change;

  void send(core& c, spi::time_point by, spi::done<reply> done) {
    c.engine().record(change, by, std::move(done));
  }
  wait_op::attempted judge(core&, const reply&) { return {.done = true}; }
  void settle(core& c) { c.end_op(change.id); }
};

// Owns its texts: it may be answered after the caller has given up.
struct survey_step {
  using reply = spi::survey_reply;
  survey_request request;
  std::string name{request.query.name};
  std::string cursor{request.query.cursor};

  void send(core& c, spi::time_point by, spi::done<reply> done) {
    request.query.name = name;
    request.query.cursor = cursor;
    c.engine().survey(request.query, by, std::move(done));
  }
  wait_op::attempted judge(core&, const reply& r) {
    return {.done = !request.enough || request.enough(r), .watch_key = r.watch_key};
  }
  void settle(core&) {}
};

struct evict_step {
  using reply = spi::release_reply;
  spi::kind kind;
  std::string name;  // owned, see survey_step
  spi::owner_id owner;
  std::uint64_t token;

  void send(core& c, spi::time_point by, spi::done<reply> done) {
    c.engine().evict({kind, name}, owner, token, by, std::move(done));
  }
  wait_op::attempted judge(core&, const reply&) { return {.done = true}; }
  void settle(core&) {}
};

struct ask_back_step {
  using reply = bool;
  std::string key;  // owned, see survey_step

  void send(core& c, spi::time_point by, spi::done<reply> done) {
    c.engine().ask_back(key, by, std::move(done));
  }
  wait_op::attempted judge(core&, const reply&) { return {.done = true}; }
  void settle(core&) {}
};

struct examine_step {
  using reply = std::vector<finding>;

  void send(core& c, spi::time_point by, spi::done<reply> done) {
    c.engine().examine(by, std::move(done));
  }
  wait_op::attempted judge(core&, const reply&) { return {.done = true}; }
  void settle(core&) {}
};

struct collect_step {
  using reply = std::uint64_t;

  void send(core& c, spi::time_point by, spi::done<reply> done) {
    c.engine().collect(by, std::move(done));
  }
  wait_op::attempted judge(core&, const reply&) { return {.done = true}; }
  void settle(core&) {}
};

// A step that waits for nothing but its answer.
wait_machine::limits one_answer(const core& c) {
  auto l = claim_op::limits_of(c, deadline::no_wait());
  l.deadline = boot_clock::now() + c.options().patience;
  return l;
}

}  // namespace

bool core::convert(hold_state& h, spi::access to, spi::status& out) {
  // Renewals are short; a conversion waits for the one that is under way.
  const auto until = boot_clock::now() + settings_.patience;
  while (!h.begin_step()) {
    if (boot_clock::now() > until) {
      out = errc::unavailable;
      return false;
    }
    std::this_thread::yield();
  }
  spi::acquire_reply reply;
  if (!h.held()) {
    h.converted(to, reply, {});
    out = errc::lost;
    return false;
  }
  spi::time_point sent;
  convert_step step{.claim = h.claim(), .sent = &sent};
  step.claim.mode = to;
  step.claim.token = h.token();
  step.claim.queue = false;
  out = run_step(*this, one_answer(*this), {}, std::move(step), reply);
  if (out) reply.granted = false;
  h.converted(to, reply, sent);
  if (!out && !reply.granted && reply.why != spi::loss::none) {
    h.lose(static_cast<loss_reason>(reply.why));
    out = errc::lost;
  }
  return reply.granted;
}

spi::status core::rewrite_note(hold_state& h, std::string note) {
  h.set_note(std::move(note));
  const auto until = boot_clock::now() + settings_.patience;
  auto* claim = h.prepare_renewal();
  while (!claim) {
    if (!h.held()) return errc::lost;
    if (boot_clock::now() > until) return errc::unavailable;
    std::this_thread::yield();  // until the renewal that is under way is answered
    claim = h.prepare_renewal();
  }
  spi::time_point sent;
  spi::renew_reply reply;
  auto result =
      run_step(*this, one_answer(*this), {}, renew_step{h.shared_from_this(), claim, &sent}, reply);
  h.renewed(result, reply, sent);
  if (!result && reply.why != spi::loss::none) return errc::lost;
  return result;
}

// ---- cells, ledgers, surveys --------------------------------------------------------------------

namespace {

wait_machine::limits limits_of(const core& c, const cell_request& r) {
  return r.goal == cell_request::until::answered ? one_answer(c) : claim_op::limits_of(c, r.by);
}

}  // namespace

spi::status core::change(cell_request r, spi::cell_reply& out) {
  r.change.what.name = *r.name;
  const auto limits = limits_of(*this, r);
  auto stop = r.stop;
  return run_step(*this, limits, std::move(stop), cell_step{.request = std::move(r)}, out);
}

void core::start_change(cell_request r, changed done) {
  r.change.what.name = *r.name;
  const auto limits = limits_of(*this, r);
  auto stop = r.stop;
  start_step(*this, limits, std::move(stop), cell_step{.request = std::move(r)}, std::move(done));
}

spi::status core::record(const spi::ledger_change& change, spi::ledger_reply& out) {
  if (auto bad = usable()) return bad;
  ledger_step step{change};
  step.change.id = begin_op();
  return run_step(*this, one_answer(*this), {}, step, out);
}

spi::status core::survey(survey_request r, spi::survey_reply& out) {
  const auto limits = r.enough ? claim_op::limits_of(*this, r.by) : one_answer(*this);
  auto stop = r.stop;
  return run_step(*this, limits, std::move(stop), survey_step{std::move(r)}, out);
}

spi::status core::evict(const spi::resource& what, const spi::owner_id& owner, std::uint64_t token,
                        spi::release_reply& out) {
  evict_step step{
      .kind = what.kind, .name = std::string{what.name}, .owner = owner, .token = token};
  return run_step(*this, one_answer(*this), {}, std::move(step), out);
}

spi::status core::ask_back(std::string key, bool& told) {
  return run_step(*this, one_answer(*this), {}, ask_back_step{std::move(key)}, told);
}

spi::status core::examine(std::vector<finding>& out) {
  return run_step(*this, one_answer(*this), {}, examine_step{}, out);
}

spi::status core::collect(std::uint64_t& records) {
  return run_step(*this, one_answer(*this), {}, collect_step{}, records);
}

}  // namespace afar::detail
