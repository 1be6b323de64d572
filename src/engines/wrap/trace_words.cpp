#include "engines/wrap/trace_words.hpp"

#include <fmt/format.h>

namespace afar::engines::wrap {
namespace {

std::string_view word(spi::loss l) {
  switch (l) {
    case spi::loss::none:
      return "none";
    case spi::loss::expired:
      return "expired";
    case spi::loss::evicted:
      return "evicted";
    case spi::loss::asked:
      return "asked";
    case spi::loss::session:
      return "session";
    case spi::loss::unreachable:
      return "unreachable";
    case spi::loss::closed:
      return "closed";
  }
  return "?";
}

std::string_view word(spi::cell_action a) {
  switch (a) {
    case spi::cell_action::load:
      return "load";
    case spi::cell_action::store:
      return "store";
    case spi::cell_action::add:
      return "add";
    case spi::cell_action::compare_exchange:
      return "compare_exchange";
    case spi::cell_action::erase:
      return "erase";
  }
  return "?";
}

std::string_view word(spi::ledger_action a) {
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

std::string_view word(spi::ledger_outcome o) {
  switch (o) {
    case spi::ledger_outcome::done:
      return "done";
    case spi::ledger_outcome::sold_out:
      return "sold_out";
    case spi::ledger_outcome::not_open_yet:
      return "not_open_yet";
    case spi::ledger_outcome::closed:
      return "closed";
    case spi::ledger_outcome::limit_reached:
      return "limit_reached";
    case spi::ledger_outcome::already_taken:
      return "already_taken";
    case spi::ledger_outcome::no_such_stock:
      return "no_such_stock";
    case spi::ledger_outcome::no_such_order:
      return "no_such_order";
    case spi::ledger_outcome::expired:
      return "expired";
  }
  return "?";
}

}  // namespace

std::string quoted(std::string_view bytes) {
  std::string out = "\"";
  for (const char c : bytes) {
    const auto b = static_cast<unsigned char>(c);
    if (b < 0x20 || b >= 0x7f || c == '"' || c == '\\')
      out += fmt::format("\\x{:02x}", b);
    else
      out += c;
  }
  return out += '"';
}

std::string in_words(const spi::resource& r) {
  return fmt::format("{} {}", spi::word(r.kind), quoted(r.name));
}

std::string in_words(const spi::claim& c) {
  return fmt::format("{} {} {} permits {}/{} lease {}ms token {}{}", in_words(c.what),
                     c.owner.text(), c.mode == spi::access::shared ? "shared" : "exclusive",
                     c.permits, c.limit, c.lease.count(), c.token, c.queue ? "" : " no queue");
}

std::string in_words(const spi::cell_change& c) {
  std::string out =
      fmt::format("{} {} {} op {}", in_words(c.what), word(c.action), c.operand, c.id.owner.text());
  if (c.action == spi::cell_action::compare_exchange)
    out += fmt::format(" expected {}", c.expected);
  if (c.initial) out += fmt::format(" initial {}", *c.initial);
  return out;
}

std::string in_words(const spi::ledger_change& c) {
  return fmt::format("{} {} {} order {} buyer {}", in_words(c.what), word(c.action), c.amount,
                     quoted(c.order), quoted(c.buyer));
}

std::string in_words(const spi::survey_query& q) {
  return fmt::format("{} most {} after {}", q.name.empty() ? "all" : quoted(q.name), q.most,
                     quoted(q.cursor));
}

std::string in_words(const spi::acquire_reply& r) {
  if (r.granted)
    return fmt::format("granted token {}..{} lease {}ms", r.token, r.last_token, r.lease.count());
  if (r.why != spi::loss::none) return fmt::format("gone: {}", word(r.why));
  std::string out = fmt::format("refused, watch {}", quoted(r.watch_key));
  if (r.retry_after) out += fmt::format(" retry after {}ms", r.retry_after->count());
  return out;
}

std::string in_words(const spi::renew_reply& r) {
  if (r.why != spi::loss::none) return fmt::format("gone: {}", word(r.why));
  return fmt::format("renewed, lease {}ms", r.lease.count());
}

std::string in_words(spi::release_reply r) {
  return r == spi::release_reply::released ? "released" : "gone";
}

std::string in_words(const spi::cell_reply& r) {
  return fmt::format("{}applied, {} -> {}{}", r.applied ? "" : "not ", r.before, r.value,
                     r.exists ? "" : ", did not exist");
}

std::string in_words(const spi::ledger_reply& r) {
  return fmt::format("{}, remaining {} reserved {} taken {}", word(r.outcome), r.remaining,
                     r.reserved, r.taken);
}

std::string in_words(const spi::watch_reply& r) { return r.recheck ? "look again" : "armed"; }

std::string in_words(const spi::survey_reply& r) {
  return fmt::format("{} entries{}", r.entries.size(), r.cursor.empty() ? "" : ", more");
}

}  // namespace afar::engines::wrap
