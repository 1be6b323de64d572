// Cells and ledgers.
#include "engines/redis/steps.hpp"

#include "engines/redis/failure.hpp"
#include "engines/redis/layout.hpp"
#include "engines/redis/subscriber.hpp"

#include <afar/spi/words.hpp>

#include <utility>

namespace afar::engines::redis {
namespace {

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
  const auto outcome = spi::ledger_outcome_of(r.at(0).text);
  if (!outcome) return odd();
  out = {*outcome, *remaining, *reserved, *taken};
  return {};
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
      .add(spi::word(ch.action))
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
      .add(spi::word(ch.action))
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
