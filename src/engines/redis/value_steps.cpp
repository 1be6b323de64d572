// Cells and ledgers.
#include "engines/redis/steps.hpp"

#include "engines/redis/failure.hpp"
#include "engines/redis/layout.hpp"
#include "engines/redis/subscriber.hpp"

#include <array>
#include <utility>

namespace afar::engines::redis {
namespace {

using spi::ledger_outcome;

std::string_view word(spi::cell_action a) noexcept {
  switch (a) {
    case spi::cell_action::load:
      return "load";
    case spi::cell_action::store:
      return "store";
    case spi::cell_action::add:
      return "add";
    case spi::cell_action::compare_exchange:
      return "swap";
    case spi::cell_action::erase:
      return "erase";
  }
  return "?";
}

std::string_view word(spi::ledger_action a) noexcept {
  switch (a) {
    case spi::ledger_action::define:
      return "define";
    case spi::ledger_action::load:
      return "load";
    case spi::ledger_action::restock:
      return "restock";
    case spi::ledger_action::take:
      return "take";
    case spi::ledger_action::reserve:
      return "reserve";
    case spi::ledger_action::commit:
      return "commit";
    case spi::ledger_action::cancel:
      return "cancel";
    case spi::ledger_action::put_back:
      return "put_back";
    case spi::ledger_action::erase:
      return "erase";
  }
  return "?";
}

constexpr std::array<std::pair<std::string_view, ledger_outcome>, 9> outcomes{
    {{"done", ledger_outcome::done},
     {"sold_out", ledger_outcome::sold_out},
     {"not_open_yet", ledger_outcome::not_open_yet},
     {"closed", ledger_outcome::closed},
     {"limit_reached", ledger_outcome::limit_reached},
     {"already_taken", ledger_outcome::already_taken},
     {"no_such_stock", ledger_outcome::no_such_stock},
     {"no_such_order", ledger_outcome::no_such_order},
     {"expired", ledger_outcome::expired}}};

spi::status odd() { return {errc::damaged, "an answer that makes no sense"}; }

spi::status read(const reply& r, spi::kind wanted, spi::cell_reply& out) {
  if (r.failed()) return failure_of(r, {wanted});
  const auto applied = r.at(0).integer();
  const auto existed = r.at(1).integer();
  const auto value = r.at(2).integer();
  const auto before = r.at(3).integer();
  if (!applied || !existed || !value || !before) return odd();
  out.applied = *applied != 0;
  out.exists = *existed != 0;
  out.value = *value;
  out.before = *before;
  return {};
}

spi::status read(const reply& r, spi::ledger_reply& out) {
  if (r.failed()) return failure_of(r, {spi::kind::stock});
  const auto remaining = r.at(1).integer();
  const auto reserved = r.at(2).integer();
  const auto taken = r.at(3).integer();
  if (!remaining || !reserved || !taken) return odd();
  for (const auto& [text, outcome] : outcomes) {
    if (r.at(0).text != text) continue;
    out = {outcome, *remaining, *reserved, *taken};
    return {};
  }
  return odd();
}

// The client's part of "<uuid>:<number>"; nothing if nobody is going to repeat the step.
std::string client_of(const spi::op_id& id) {
  if (id.owner == spi::owner_id{}) return {};
  const std::string text = id.owner.text();
  return text.substr(0, text.find(':'));
}

std::string text_of(const std::optional<std::int64_t>& n) {
  return n ? std::to_string(*n) : std::string{};
}
std::string text_of(const std::optional<spi::calendar_time>& t) {
  return t ? std::to_string(t->time_since_epoch().count()) : std::string{};
}

}  // namespace

std::unique_ptr<request> change_request(const spi::cell_change& ch, spi::time_point by,
                                        spi::done<spi::cell_reply> done) {
  const std::string_view name = ch.what.name;
  const std::string channel = layout::cell_channel(ch.what.kind, name);
  auto r = make_request(by, [kind = ch.what.kind, key = subscriber::channel_key(channel),
                             done = std::move(done)](spi::status s, reply got) mutable {
    spi::cell_reply out;
    if (!s) s = read(got, kind, out);
    out.watch_key = std::move(key);
    done(std::move(s), std::move(out));
  });
  arguments{*r, scripts::change, 3, 11}
      .add(layout::name_key(name))
      .add(layout::cell_key(name))
      .add(layout::queue_key(name))
      .add(letter(ch.what.kind))
      .add(word(ch.action))
      .add(ch.operand)
      .add(ch.expected)
      .add(text_of(ch.initial))
      .add(ch.min)
      .add(ch.max)
      .add(client_of(ch.id))
      .add(ch.id.owner.number)
      .add(ch.id.settled)
      .add(channel);
  return r;
}

std::unique_ptr<request> record_request(const spi::ledger_change& ch, spi::time_point by,
                                        spi::done<spi::ledger_reply> done) {
  const std::string_view name = ch.what.name;
  auto r = make_request(by, [done = std::move(done)](spi::status s, reply got) mutable {
    spi::ledger_reply out;
    if (!s) s = read(got, out);
    done(std::move(s), out);
  });
  arguments{*r, scripts::record, 6, 11}
      .add(layout::name_key(name))
      .add(layout::orders_key(name))
      .add(layout::buyers_key(name))
      .add(layout::due_key(name))
      .add(layout::queue_key(name))
      .add(layout::cell_key(name))
      .add(word(ch.action))
      .add(ch.amount)
      .add(ch.order)
      .add(ch.buyer)
      .add(std::int64_t{ch.per_buyer})
      .add(ch.hold_for)
      .add(text_of(ch.open.opens))
      .add(text_of(ch.open.closes))
      .add(client_of(ch.id))
      .add(ch.id.owner.number)
      .add(ch.id.settled);
  return r;
}

}  // namespace afar::engines::redis
