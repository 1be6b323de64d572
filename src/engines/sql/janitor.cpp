#include "engines/sql/janitor.hpp"

#include "engines/sql/row.hpp"

#include <random>
#include <utility>
#include <vector>

namespace afar::engines::sql {
namespace {

constexpr std::uint32_t uses_per_round = 100;

bool idle(const row& r) try {
  if (r.kind > static_cast<std::int64_t>(spi::kind::election) || r.watched()) return false;
  const std::int64_t oldest = r.now_us - floor_us;
  if (r.last_token >= oldest || r.version >= oldest) return false;
  records::claims c = claims_of(r);
  records::moment m;
  m.now = at_us(r.now_us);
  m.calendar_us = static_cast<std::uint64_t>(r.now_us);
  records::effects ignored;
  records::sweep(c, m, ignored);
  return c.idle();
} catch (const failure&) {  // damaged: not ours to delete
  return false;
}

}  // namespace

std::uint64_t clear_page(connection& on, std::string& from) {
  const answer page = on.ask(statement::next_rows, std::string_view{from});
  std::vector<std::pair<std::string_view, std::int64_t>> unused;
  for (const auto& f : page.rows) {
    const row r = read_row(std::span{f}.subspan(1));
    if (idle(r)) unused.emplace_back(f[0].text, r.version);
  }
  from = page.rows.empty() ? std::string{} : page.rows.back()[0].text;
  if (unused.empty()) return 0;
  std::uint64_t gone = 0;
  transaction t{on};  // one commit; in the order of names, as renewals
  for (const auto& [name, version] : unused)
    gone += static_cast<std::uint64_t>(on.ask(statement::erase_name, name, version).affected);
  t.commit();
  return gone;
}

// From a random number on: clients that live for a few uses only do their part as well.
janitor::janitor() : uses_(std::random_device{}() % uses_per_round) {}

bool janitor::due() noexcept { return ++uses_ % uses_per_round == 0; }

std::uint64_t janitor::round(connection& on, std::string_view used) {
  std::string from;
  {
    const std::lock_guard lock{mutex_};
    from = from_.empty() ? std::string{used} : from_;
  }
  const std::uint64_t gone = clear_page(on, from);
  const std::lock_guard lock{mutex_};
  from_ = std::move(from);
  return gone;
}

}  // namespace afar::engines::sql
