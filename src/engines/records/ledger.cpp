#include "engines/records/ledger.hpp"

#include "engines/records/instant.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>
#include <limits>

namespace afar::engines::records {
namespace {

using spi::ledger_action;
using spi::ledger_outcome;

constexpr std::size_t most_restocks = 256;  // remembered op ids; clients that never settle exist
constexpr int returns_per_step = 64;
constexpr int returns_all = std::numeric_limits<int>::max();

// One step in progress: the head is read once and written once.
class step {
 public:
  step(ledger_pages& pages, const spi::ledger_change& change, spi::time_point now,
       spi::calendar_time today)
      : pages_(pages), change_(change), now_(now), today_(today), head_(pages.head()) {}

  spi::status run(spi::ledger_reply& reply) {
    if (head_) return_due(change_.action == ledger_action::load ? returns_all : returns_per_step);
    reply.outcome = outcome();
    if (head_ && head_changed_) pages_.put_head(*head_);  // also when failed: some was returned
    if (failed_ || !head_) return failed_;
    reply.remaining = restocked_to_.value_or(head_->remaining);
    reply.reserved = head_->reserved;
    reply.taken = head_->taken;
    return {};
  }

 private:
  ledger_outcome outcome() {
    const ledger_action action = change_.action;
    if (!head_ && action != ledger_action::define && action != ledger_action::erase)
      return ledger_outcome::no_such_stock;
    switch (action) {
      case ledger_action::define:
        return define();
      case ledger_action::load:
        return ledger_outcome::done;
      case ledger_action::restock:
        return restock();
      case ledger_action::take:
      case ledger_action::reserve:
        return take();
      case ledger_action::commit:
        return commit();
      case ledger_action::cancel:
        return undo(order_state::reserved, ledger_outcome::already_taken);
      case ledger_action::put_back:
        return undo(order_state::taken, ledger_outcome::no_such_order);
      case ledger_action::erase:
        return erase();
    }
    return fail(errc::bad_argument, "no such action");
  }

  // ---- the stock itself -----------------------------------------------------------------------

  ledger_outcome define() {
    if (change_.amount < 0) return fail(errc::bad_argument, "a stock of less than nothing");
    if (head_ && repeated()) return ledger_outcome::done;
    ledger_head next = head_.value_or(ledger_head{});
    if (!addable(next, change_.amount, 0)) return fail(errc::overflow, "more than 64 bits count");
    next.remaining = change_.amount;
    next.per_buyer = change_.per_buyer;
    next.open = change_.open;
    head_ = std::move(next);
    remember();
    return ledger_outcome::done;
  }

  ledger_outcome restock() {
    if (repeated()) return ledger_outcome::done;
    if (change_.amount > 0 && !addable(*head_, head_->remaining, change_.amount))
      return fail(errc::overflow, "more than 64 bits count");
    if (change_.amount < 0) {
      return_due_unless(head_->remaining + change_.amount >= 0);
      if (head_->remaining + change_.amount < 0) return ledger_outcome::sold_out;
    }
    head_->remaining += change_.amount;
    remember();
    return ledger_outcome::done;
  }

  ledger_outcome erase() {
    if (!head_) return ledger_outcome::done;  // a repeated erase
    pages_.erase_all();
    head_.reset();
    return ledger_outcome::done;
  }

  // ---- orders ---------------------------------------------------------------------------------

  ledger_outcome take() {
    const bool reserving = change_.action == ledger_action::reserve;
    if (change_.amount <= 0) return fail(errc::bad_argument, "an order of nothing");
    if (change_.order.empty()) return fail(errc::bad_argument, "an order without an id");
    if (reserving && change_.hold_for.count() <= 0)
      return fail(errc::bad_argument, "a reservation without a time");
    const auto wanted = reserving ? order_state::reserved : order_state::taken;

    if (const auto known = find()) {
      const bool same = known->buyer == change_.buyer && known->amount == change_.amount;
      return same && known->state == wanted ? ledger_outcome::done : ledger_outcome::already_taken;
    }
    const spi::window& open = head_->open;
    if (open.opens && today_ < *open.opens) return ledger_outcome::not_open_yet;
    if (open.closes && today_ >= *open.closes) return ledger_outcome::closed;
    return_due_unless(within_share() && change_.amount <= head_->remaining);
    if (!within_share()) return ledger_outcome::limit_reached;
    if (change_.amount > head_->remaining && !AFAR_MUTANT("records.stock.oversells"))
      return ledger_outcome::sold_out;
    enter(wanted);
    return ledger_outcome::done;
  }

  ledger_outcome commit() {
    auto known = find();
    if (!known) return ledger_outcome::no_such_order;
    switch (known->state) {
      case order_state::taken:
        return ledger_outcome::done;
      case order_state::expired:
        return ledger_outcome::expired;
      case order_state::returned:
        return ledger_outcome::already_taken;
      case order_state::reserved:
        break;
    }
    pages_.erase_deadline(known->expires, change_.order);
    known->state = order_state::taken;
    known->expires = {};
    pages_.put(change_.order, *known);
    head_->reserved -= known->amount;
    head_->taken += known->amount;
    head_changed_ = true;
    return ledger_outcome::done;
  }

  // What only a reserved, or only a taken, order allows.
  ledger_outcome undo(order_state from, ledger_outcome otherwise) {
    auto known = find();
    if (!known) return ledger_outcome::no_such_order;
    if (known->state == order_state::returned) return ledger_outcome::done;
    if (known->state == order_state::expired) return ledger_outcome::expired;
    if (known->state != from) return otherwise;
    give_back(change_.order, *known, order_state::returned);
    return ledger_outcome::done;
  }

  // ---- parts ----------------------------------------------------------------------------------

  // The order of this change. If its own time is over it is returned here, because return_due may
  // have stopped before it.
  std::optional<order> find() {
    auto known = pages_.find(change_.order);
    if (known && known->state == order_state::reserved && known->expires <= now_)
      give_back(change_.order, *known, order_state::expired);
    return known;
  }

  void enter(order_state state) {
    order o{std::string{change_.buyer}, change_.amount, state, {}};
    head_->remaining -= o.amount;
    if (state == order_state::reserved) {
      o.expires = later(now_, change_.hold_for);
      head_->reserved += o.amount;
      pages_.put_deadline(o.expires, change_.order);
    } else {
      head_->taken += o.amount;
    }
    pages_.put(change_.order, o);
    pages_.put_units(change_.buyer, pages_.units_of(change_.buyer) + o.amount);
    head_changed_ = true;
  }

  void give_back(std::string_view id, order& o, order_state state) {
    if (o.state == order_state::reserved) {
      pages_.erase_deadline(o.expires, id);
      head_->reserved -= o.amount;
    } else {
      head_->taken -= o.amount;
    }
    head_->remaining += o.amount;
    head_changed_ = true;
    pages_.put_units(o.buyer, pages_.units_of(o.buyer) - o.amount);
    o.state = state;
    o.expires = {};
    pages_.put(id, o);
  }

  void return_due(int most) {
    for (; most > 0; --most) {
      const auto first = pages_.first_deadline();
      if (!first || first->first > now_) return;
      auto o = pages_.find(first->second);
      if (o && o->state == order_state::reserved && o->expires == first->first)
        give_back(first->second, *o, order_state::expired);
      else
        pages_.erase_deadline(first->first, first->second);
    }
  }

  // Before anything is refused, all that is due comes back.
  void return_due_unless(bool enough) {
    if (!enough) return_due(returns_all);
  }

  bool within_share() {
    if (head_->per_buyer == 0) return true;
    return change_.amount <= std::int64_t{head_->per_buyer} - pages_.units_of(change_.buyer);
  }

  // With this, no other sum in this file can overflow: all of them are parts of the total.
  static bool addable(const ledger_head& h, std::int64_t remaining, std::int64_t more) {
    std::int64_t sum = 0;
    return !__builtin_add_overflow(remaining, more, &sum) &&
           !__builtin_add_overflow(sum, h.reserved, &sum) &&
           !__builtin_add_overflow(sum, h.taken, &sum);
  }

  bool repeated() {
    if (change_.id.owner == spi::owner_id{}) return false;
    for (const auto& [op, remaining] : head_->restocks) {
      if (op != change_.id.owner) continue;
      restocked_to_ = remaining;
      return true;
    }
    return false;
  }

  void remember() {
    head_changed_ = true;
    const spi::op_id& id = change_.id;
    if (id.owner == spi::owner_id{}) return;
    auto& known = head_->restocks;
    std::erase_if(known, [&](const auto& r) {
      return r.first.same_client(id.owner) && r.first.number < id.settled;
    });
    if (known.size() >= most_restocks) known.erase(known.begin());
    known.emplace_back(id.owner, head_->remaining);
  }

  ledger_outcome fail(errc e, std::string detail) {
    failed_ = {e, std::move(detail)};
    return ledger_outcome::done;
  }

  ledger_pages& pages_;
  const spi::ledger_change& change_;
  spi::time_point now_;
  spi::calendar_time today_;
  std::optional<ledger_head> head_;
  bool head_changed_ = false;
  std::optional<std::int64_t> restocked_to_;
  spi::status failed_;
};

}  // namespace

spi::status record(ledger_pages& pages, const spi::ledger_change& change, spi::time_point now,
                   spi::calendar_time today, spi::ledger_reply& reply) {
  reply = {};
  return step{pages, change, now, today}.run(reply);
}

}  // namespace afar::engines::records
