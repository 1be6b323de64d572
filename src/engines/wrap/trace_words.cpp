#include "engines/wrap/trace_words.hpp"

#include <afar/spi/words.hpp>

#include <fmt/format.h>

namespace afar::engines::wrap {

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
  std::string out = fmt::format("{} {} {} op {}", in_words(c.what), spi::word(c.action), c.operand,
                                c.id.owner.text());
  if (c.action == spi::cell_action::compare_exchange)
    out += fmt::format(" expected {}", c.expected);
  if (c.initial) out += fmt::format(" initial {}", *c.initial);
  return out;
}

std::string in_words(const spi::ledger_change& c) {
  return fmt::format("{} {} {} order {} buyer {}", in_words(c.what), spi::word(c.action), c.amount,
                     quoted(c.order), quoted(c.buyer));
}

std::string in_words(const spi::survey_query& q) {
  return fmt::format("{} most {} after {}", q.name.empty() ? "all" : quoted(q.name), q.most,
                     quoted(q.cursor));
}

std::string in_words(const spi::acquire_reply& r) {
  if (r.granted)
    return fmt::format("granted token {}..{} lease {}ms", r.token, r.last_token, r.lease.count());
  if (r.why != spi::loss::none) return fmt::format("gone: {}", spi::word(r.why));
  std::string out = fmt::format("refused, watch {}", quoted(r.watch_key));
  if (r.retry_after) out += fmt::format(" retry after {}ms", r.retry_after->count());
  return out;
}

std::string in_words(const spi::renew_reply& r) {
  if (r.why != spi::loss::none) return fmt::format("gone: {}", spi::word(r.why));
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
  return fmt::format("{}, remaining {} reserved {} taken {}", spi::word(r.outcome), r.remaining,
                     r.reserved, r.taken);
}

std::string in_words(const spi::watch_reply& r) { return r.recheck ? "look again" : "armed"; }

std::string in_words(const spi::survey_reply& r) {
  return fmt::format("{} entries{}", r.entries.size(), r.cursor.empty() ? "" : ", more");
}

}  // namespace afar::engines::wrap
