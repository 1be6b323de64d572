#include "engines/sql/janitor.hpp"
#include "engines/sql/row.hpp"
#include "engines/sql/steps.hpp"

#include <algorithm>

namespace afar::engines::sql {
namespace {

std::optional<spi::entry> describe(const std::string& name, const row& r) {
  const auto used = used_as(r);
  if (!used) return std::nullopt;
  spi::entry e;
  e.kind = used->kind;
  e.name = name;
  if (used->kind > spi::kind::election) {
    e.value = r.value.value_or(0);
    return e;
  }
  records::moment m;
  m.now = at_us(r.now_us);
  m.calendar_us = static_cast<std::uint64_t>(r.now_us);
  e = records::describe(claims_of(r), name, m);
  e.history.clear();  // a lock that nobody waits for is taken and given back without a trace
  if (e.holders.empty() && e.waiters.empty()) return std::nullopt;
  return e;
}

void add(const spi::survey_query& q, const std::string& name, const row& r,
         spi::survey_reply& reply) {
  auto e = describe(name, r);
  if (e && (!q.kind || *q.kind == e->kind)) reply.entries.push_back(std::move(*e));
}

}  // namespace

spi::status survey(const desk& d, const spi::survey_query& q, spi::survey_reply& reply) {
  reply = {};
  if (!q.name.empty()) {
    if (auto refused = check_name(q.name)) return refused;
    reply.watch_key = name_key(q.name);
    add(q, std::string{q.name}, load(d.on, q.name), reply);
    for (auto& e : reply.entries) {
      e.key = "afar_names";
      e.format = "native";
      if (e.kind <= spi::kind::election)
        e.token_source = "the last one + 1, or the server's microseconds; in the row";
    }
    return {};
  }
  const std::size_t most = std::max<std::size_t>(q.most, 1);
  std::string at{q.cursor};
  for (;;) {
    const answer page = d.on.ask(statement::page, std::string_view{at});
    for (const auto& f : page.rows) {
      if (reply.entries.size() == most) {
        reply.cursor = at;
        return {};
      }
      at = f[0].text;
      add(q, at, read_row(std::span{f}.subspan(1)), reply);
    }
    if (page.rows.empty()) return {};
  }
}

std::uint64_t collect(const desk& d) {
  std::uint64_t gone = 0;
  for (;;) {
    const std::int64_t n = d.on.ask(statement::collect, floor_us).affected;
    gone += static_cast<std::uint64_t>(n);
    if (n == 0 || boot_clock::now() >= d.by) break;
  }
  std::string from;
  do gone += clear_page(d.on, from);  // what only a reader of the record can tell to be idle
  while (!from.empty() && boot_clock::now() < d.by);
  d.on.run(statement::forget_bells, {});
  return gone;
}

}  // namespace afar::engines::sql
