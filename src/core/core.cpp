#include "core/core.hpp"

#include "core/cancel_guard.hpp"
#include "core/claim_op.hpp"
#include "core/first_question.hpp"
#include "core/hold_state.hpp"
#include "core/parker.hpp"

#include <sys/random.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace afar::detail {

using namespace std::chrono_literals;

namespace {

// For so long a caller waits for its first answer with no operation: it hears nothing else meanwhile.
constexpr auto soon = 50ms;
// Who takes again and again what stays here asks the engine nothing, and may leave its own thread no core to
// run on: so often he looks himself whether somebody wants it.
constexpr auto between_glances = 50us;

// So many lines that nobody uses any more may be remembered, or as many as are in use: to look
// through them costs every new one the same, and a few stay in the cache.
constexpr std::size_t few_lines = 64;

}  // namespace

core::core(settings s, factory open)
    : settings_(std::move(s)), hub_(*this), watchdog_(*this), engine_(open(*this)) {
  std::uint64_t bits[2] = {};
  if (::getrandom(bits, sizeof bits, 0) != sizeof bits)
    throw lock_error(errc::unavailable, settings_.url, "the kernel gives no random numbers");
  identity_ = {.client_high = bits[0], .client_low = bits[1]};
  check_guarantees(settings_.require, engine_->about(), settings_.url);
  check_sticky(settings_.sticky, engine_->about(), settings_.url);
}

core::~core() = default;

spi::owner_id core::new_owner() noexcept {
  auto id = identity_;
  id.number = next_number_.fetch_add(1, std::memory_order_relaxed);
  return id;
}

spi::op_id core::begin_op() {
  const std::lock_guard lock(numbers_mutex_);
  const auto id = new_owner();
  unsettled_.insert(id.number);
  return {.owner = id, .settled = *unsettled_.begin()};
}

void core::end_op(const spi::op_id& id) noexcept {
  const std::lock_guard lock(numbers_mutex_);
  unsettled_.erase(id.owner.number);
}

void core::tell(const event& e) const noexcept {
  if (settings_.observer) settings_.observer->on(e);
}

spi::status core::usable() const {
  if (forked()) return {errc::forked, "open a client of its own in the child process"};
  if (closed()) return errc::closed;
  return {};
}

spi::time_point core::background_by(spi::time_point now) const noexcept {
  return now + (about().inline_steps ? 5ms : 2'000ms);
}

std::shared_ptr<local_line> core::line(spi::kind k, const std::string& name) {
  std::string key(1, static_cast<char>(k));
  key += name;
  const std::lock_guard lock(lines_mutex_);
  auto& known = lines_[key];
  auto found = known.lock();
  if (!found) {
    found = std::make_shared<local_line>(k, settings_.prefix + name, settings_.prefix.size());
    known = found;
    if (lines_.size() >= sweep_lines_at_) {
      std::erase_if(lines_, [](auto& l) { return l.second.expired(); });
      sweep_lines_at_ = std::max(few_lines, 2 * lines_.size());
    }
  }
  return found;
}

// ---- claims -------------------------------------------------------------------------------------

spi::status core::check(claim_request& r) const {
  if (auto bad = usable()) return bad;
  if (r.stop.stop_requested()) return errc::cancelled;
  if (!r.lease) r.lease = settings_.lease;
  try {
    check_lease(*r.lease, r.line->name());
  } catch (const lock_error& e) {
    return {e.code(), "the lease must be 10 ms to 24 h"};
  }
  return {};
}

// The attempt on the caller's own stack, with no operation: most claims are granted at once.
struct core::first_try {
  hold_ptr state;
  first_question question;
  spi::time_point sent{};
  bool asked = false;  // and stands for the local line, or needs none
  bool granted = false;
  bool refused = false;                         // finally: it does not wait
  std::optional<wait_op::first_answer> answer;  // none, but asked: it is still to come
  std::uint64_t refused_token = 0;              // the newest one that it named

  bool decided() const noexcept { return granted || refused; }
  std::optional<spi::time_point> asked_at() const {
    return asked ? std::optional{sent} : std::nullopt;
  }
};

hold_ptr core::take_again(local_line& line, std::optional<milliseconds> lease) {
  if (forked() || closed()) return nullptr;
  auto kept = line.take_kept();
  if (!kept) return nullptr;
  const auto now = boot_clock::now();
  if (now - glanced_at_.load(std::memory_order_relaxed) >= between_glances) {
    const cancel_guard no_cancellation;
    glanced_at_.store(now, std::memory_order_relaxed);
    engine_->glance();
  }
  if (!kept->fits(lease.value_or(settings_.lease)) || !kept->try_again(now)) {
    const cancel_guard no_cancellation;
    kept->give_back_kept();
    return nullptr;
  }
  counters::up(counters_.reused);
  if (observed())
    tell({.what = event::kind::acquired,
          .name = line.name(),
          .token = kept->token(),
          .at = now,
          .lease = kept->lease()});
  return kept;
}

void core::try_first(const claim_request& r, bool blocks, first_try& t) {
  if (may_take_again(*r.line, r.mode, r.renew, r.stop) && r.note.empty()) {
    t.state = take_again(*r.line, r.lease);
    t.granted = t.state != nullptr;
    if (t.granted) return;
  }
  const bool lines_up = r.line->lines_up(r.mode);
  const bool at_once = about().inline_steps;
  // Whom a stop token may call away has to hear it while he waits.
  const bool here = at_once || (blocks && !r.stop.stop_possible());
  t.asked = here && (!lines_up || r.line->try_enter());
  if (at_once && !t.asked && !r.by.waits) {
    t.refused = true;  // a hold of this very client is in the way
    return;
  }
  if (!t.asked) return;
  t.state = std::make_shared<hold_state>(shared_from_this(), r, *r.lease);
  if (lines_up) t.state->stand_for_line();
  t.sent = boot_clock::now();
  // Short where the step is made on this thread. A failure is repeated by the operation.
  const auto by = std::min(r.by.at, t.sent + (at_once ? about().try_time : settings_.patience));
  counters::up(counters_.steps);
  if (observed()) tell({.what = event::kind::asking, .name = r.line->name(), .at = t.sent});
  t.state->ask_first(t.question, by);
  const auto until = std::min(r.by.at, t.sent + soon);
  while (!t.question.ready()) {
    engine_->drive(t.question, until);
    if (!t.question.ready() && boot_clock::now() >= until) return;
  }
  judge(t, r.by.waits);
}

// The first question is answered.
void core::judge(first_try& t, bool waits) {
  auto& [status, reply] = t.question.result();
  if (!status && reply.granted) {
    t.granted = t.state->begin(reply, t.sent);
    if (!t.granted) status = errc::unknown_outcome;
  }
  if (!t.granted) t.state->end_question();
  t.refused = !t.granted && !status && !waits && !reply.asked;
  if (t.decided() && observed()) {
    const auto now = boot_clock::now();
    tell({.what = t.granted ? event::kind::acquired : event::kind::refused,
          .name = t.state->name(),
          .token = t.granted ? reply.token : 0,
          .at = now,
          .waited = now - t.sent,
          .lease = t.state->lease(),
          .code = t.granted ? std::error_code{} : make_error_code(errc::timed_out)});
  }
  if (t.granted) return counters::up(counters_.acquired);
  if (t.refused) return t.state->leave_line();
  t.refused_token = reply.token;
  t.answer.emplace(wait_op::first_answer{std::move(status),
                                         {.watch_key = std::move(reply.watch_key),
                                          .retry_after = reply.retry_after,
                                          .asked = reply.asked}});
}

// What goes on where the first try has not decided.
std::shared_ptr<claim_op> core::operation(claim_request r, const first_try& t, acquired done) {
  const auto limits = claim_op::limits_of(*this, r.by);
  auto op = std::make_shared<claim_op>(shared_from_this(), limits, std::move(r), t.state,
                                       t.asked_at(), std::move(done));
  if (t.answer) op->refused_before(t.refused_token);
  return op;
}

hold_ptr core::acquire(claim_request r, spi::status& out) {
  const cancel_guard no_cancellation;
  arrival arriving(arrivals_);
  out = check(r);
  if (out) return nullptr;
  first_try first;
  try_first(r, true, first);
  hold_ptr got;
  std::shared_ptr<claim_op> op;
  if (!first.decided()) {
    const bool waits = r.by.waits;
    op = operation(std::move(r), first, [&](spi::status s, hold_ptr h) {
      out = std::move(s);
      got = std::move(h);
    });
    op->will_block();
    // Still without an answer: the operation gets it, unless it has come meanwhile.
    if (first.asked && !first.answer && !first.state->pass_on(op)) {
      judge(first, waits);
      if (first.answer) op->refused_before(first.refused_token);
    }
  }
  if (first.granted) return std::move(first.state);
  if (first.refused) {
    counters::up(counters_.timed_out);
    out = errc::timed_out;
    return nullptr;
  }
  op->run({.asked = first.asked, .answer = std::move(first.answer)}, std::move(arriving));
  return got;
}

void core::start_acquire(claim_request r, acquired done) {
  arrival arriving(arrivals_);
  auto bad = check(r);
  first_try first;
  if (!bad) try_first(r, false, first);
  if (first.refused) {
    counters::up(counters_.timed_out);
    bad = errc::timed_out;
  }
  if (bad || first.granted) {
    arriving.end();
    return done(std::move(bad), first.granted ? std::move(first.state) : nullptr);
  }
  const auto op = operation(std::move(r), first, std::move(done));
  op->start({.asked = first.asked, .answer = std::move(first.answer)}, std::move(arriving));
}

// ---- what engines tell --------------------------------------------------------------------------

void core::expect_grant(const spi::owner_id& id, const std::shared_ptr<wait_op>& op) {
  const std::lock_guard lock(ops_mutex_);
  grants_[id.number] = op;
}

void core::forget_grant(const spi::owner_id& id) noexcept {
  const std::lock_guard lock(ops_mutex_);
  grants_.erase(id.number);
}

void core::granted(const spi::owner_id& id, std::uint64_t token, std::uint64_t last_token,
                   milliseconds lease) noexcept {
  std::shared_ptr<wait_op> op;
  {
    const std::lock_guard lock(ops_mutex_);
    if (const auto at = grants_.find(id.number); at != grants_.end()) op = at->second.lock();
  }
  if (op && id.same_client(identity_)) op->pushed_grant(token, last_token, lease);
}

bool core::expect_asks(hold_state& h) noexcept {
  try {
    const std::lock_guard lock(asks_mutex_);
    asks_[h.claim().owner.number] = h.weak_from_this();
    return true;
  } catch (...) {
    return false;
  }
}

void core::forget_asks(const spi::owner_id& id) noexcept {
  const std::lock_guard lock(asks_mutex_);
  asks_.erase(id.number);
}

void core::asked(const spi::owner_id& id) noexcept {
  if (!id.same_client(identity_)) return;
  hold_ptr lingers;
  {
    const std::lock_guard lock(asks_mutex_);
    if (const auto at = asks_.find(id.number); at != asks_.end()) lingers = at->second.lock();
  }
  if (lingers) return lingers->want_back();
  for (const auto& h : watchdog_.all())
    if (h->claim().owner == id) h->ask();
}

// What nobody uses must not be taken again; what is in use is given back at its next unlock.
void core::want_all_back() noexcept {
  std::vector<hold_ptr> all;
  {
    const std::lock_guard lock(asks_mutex_);
    for (const auto& [number, h] : asks_)
      if (auto p = h.lock()) all.push_back(std::move(p));
  }
  for (const auto& h : all) h->want_back();
}

void core::wake_all() noexcept {
  want_all_back();  // somebody may have asked meanwhile
  hub_.wake_all();
}

void core::in_doubt() noexcept {
  want_all_back();
  watchdog_.renew_all();
}

void core::session_lost() noexcept {
  for (const auto& h : watchdog_.all()) h->lose(loss_reason::session);
}

// ---- closing ------------------------------------------------------------------------------------

void core::enlist(wait_op& op) {
  {
    const std::lock_guard lock(ops_mutex_);
    op.place_ = {.listed = true, .next = first_op_};
    if (first_op_) first_op_->place_.previous = &op;
    first_op_ = &op;
  }
  if (closed()) op.close();  // close() may have looked before we were there
}

void core::delist(wait_op& op) noexcept {
  const std::lock_guard lock(ops_mutex_);
  const auto [listed, previous, next] = std::exchange(op.place_, {});
  if (!listed) return;
  (previous ? previous->place_.next : first_op_) = next;
  if (next) next->place_.previous = previous;
}

// In this order: what arrives is enlisted before it has arrived, and what is enlisted stays so until
// its release has ended.
bool core::busy() noexcept {
  if (arrivals_.load() > 0 || releases_.load(std::memory_order_acquire) > 0) return true;
  const std::lock_guard lock(ops_mutex_);
  return first_op_ != nullptr;
}

void core::close() noexcept {
  if (forked() || closed_.exchange(true)) return;
  std::vector<std::shared_ptr<wait_op>> ops;
  {
    const std::lock_guard lock(ops_mutex_);
    for (wait_op* at = first_op_; at; at = at->place_.next)
      if (auto op = at->weak_from_this().lock()) ops.push_back(std::move(op));
  }
  for (const auto& op : ops) op->close();
  for (const auto& h : watchdog_.all()) h->close_down();
  // Releases under way, also those of waits that end now, get a second; what is not confirmed by
  // then ends with its lease.
  const auto until = boot_clock::now() + 1s;
  parker pause;
  while (busy() && boot_clock::now() < until) pause.park_until(boot_clock::now() + 1ms);
  for (const auto& h : watchdog_.all()) h->close_down();  // granted while we closed
  engine_closed_.store(true, std::memory_order_release);
  engine_->close();
}

}  // namespace afar::detail
