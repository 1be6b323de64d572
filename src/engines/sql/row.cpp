#include "engines/sql/row.hpp"

#include "engines/records/instant.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace afar::engines::sql {
namespace {

using std::chrono::microseconds;

constexpr std::size_t arrival_digits = 16;  // of the microseconds since 1970, until 2286
constexpr std::int64_t longest_lease_us = 3'155'760'000'000'000;  // 100 years: "for ever"

template <class Record>
std::string encoded(const Record& r) {
  std::string bytes(records::encoded_size(r), '\0');
  records::encode(r, reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

template <class Record>
Record decoded(std::string_view bytes) {
  Record r;
  if (!records::decode(std::as_bytes(std::span{bytes.data(), bytes.size()}), r))
    throw failure{{errc::damaged, "its row makes no sense to this version of afar"}};
  return r;
}

// What a claim wants, in the fields of its place for times: the server is to write those.
void put_terms(records::place& p, const spi::claim& a) {
  p.since = spi::time_point{std::chrono::nanoseconds{a.lease.count()}};
  p.until = spi::time_point{std::chrono::nanoseconds{a.handoffs}};
}
void take_terms(records::place& p) {
  p.lease = spi::milliseconds{p.since.time_since_epoch().count()};
  p.handoffs = static_cast<std::uint32_t>(p.until.time_since_epoch().count());
}

// Those who came by statement::join, in the order of their coming. One may be there twice: it has
// asked again because the first answer was lost.
void add_arrivals(records::claims& to, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string time{bytes.substr(0, arrival_digits)};
    const std::int64_t us = std::atoll(time.c_str());
    bytes.remove_prefix(time.size());
    const auto came = decoded<records::claims>(bytes);
    bytes.remove_prefix(records::encoded_size(came));
    for (records::place p : came.line) {
      if (std::ranges::find(to.line, p.owner, &records::place::owner) != to.line.end()) continue;
      take_terms(p);
      p.since = at_us(us);
      p.until = records::later(p.since, waiter_lease);
      to.line.push_back(std::move(p));
    }
  }
}

parameter text_or_null(const std::string& s, bool there) {
  return there ? parameter{std::string_view{s}} : parameter{};
}

bool is_claim(std::int64_t kind) noexcept {
  return kind >= 1 && kind <= static_cast<std::int64_t>(spi::kind::election);
}

// Columns can say it: one exclusive holder, or nobody.
bool says_all(const records::claims& c) {
  if (!c.line.empty() || !c.evictions.empty() || !c.verdicts.empty()) return false;
  if (c.holders.empty()) return true;
  return c.holders.size() == 1 && c.holders[0].mode == spi::access::exclusive &&
         !records::has_limit(c.kind);
}

void show_holder(row& r, const records::holder& h) {
  r.owner = h.owner.text();
  r.since_us = us_of(h.since);
  r.renewed_us = us_of(h.renewed);
  r.until_us = us_of(h.until);
  r.renewals = h.renewals;
  r.token = static_cast<std::int64_t>(h.token);
  r.note = h.note;
}

void show_nobody(row& r) {
  r.owner.clear();
  r.note.clear();
  r.until_us = 0;
}

}  // namespace

spi::time_point at_us(std::int64_t us) noexcept { return spi::time_point{microseconds{us}}; }

std::int64_t us_of(spi::time_point t) noexcept {
  return std::chrono::floor<microseconds>(t.time_since_epoch()).count();
}

std::int64_t us_of(spi::milliseconds lease) noexcept {
  return std::min(lease.count(), longest_lease_us / 1'000) * 1'000;
}

row read_row(std::span<const field> f) {
  row r;
  r.now_us = f[0].number;
  r.exists = !f[1].null;
  if (!r.exists) return r;
  r.version = f[1].number;
  r.watched_us = f[2].number;
  r.kind = f[3].number;
  r.rings = f[4].number;
  r.form = static_cast<shape>(f[5].number);
  r.owner = f[6].text;
  r.since_us = f[7].number;
  r.renewed_us = f[8].number;
  r.until_us = f[9].number;
  r.renewals = f[10].number;
  r.token = f[11].number;
  r.last_token = f[12].number;
  r.note = f[13].text;
  r.called = f[14].text;
  if (!f[15].null) r.value = f[15].number;
  r.record = f[16].text;
  return r;
}

row load(connection& c, std::string_view name) {
  const answer a = c.ask(statement::load, name);
  if (a.rows.size() != 1 || a.rows[0].size() != 17)
    throw failure{{errc::damaged, "the server answers in an unknown way"}};
  row r = read_row(a.rows[0]);
  c.server_said(r.now_us, boot_clock::now());
  return r;
}

bool store(connection& c, std::string_view name, const row& before, const row& r,
           std::int64_t end_us, std::span<const bell_call> calls) {
  std::string told;
  if (c.update_rings())
    for (const bell_call& b : calls)
      told += (told.empty() ? "afar_" : ",afar_") + std::to_string(b.bell) + ' ' + b.text;
  const parameter all[] = {name,
                           r.kind,
                           r.rings,
                           static_cast<std::int64_t>(r.form),
                           text_or_null(r.owner, !r.owner.empty()),
                           r.since_us,
                           r.renewed_us,
                           r.until_us,
                           r.renewals,
                           r.token,
                           r.last_token,
                           text_or_null(r.note, !r.owner.empty()),
                           text_or_null(r.called, !r.called.empty()),
                           r.value ? parameter{*r.value} : parameter{},
                           text_or_null(r.record, r.form != shape::plain),
                           end_us,
                           AFAR_MUTANT("sql.update.blind") ? load(c, name).version : before.version,
                           std::string_view{told}};
  const std::span<const parameter> list{all};
  if (!before.exists) return c.run(statement::insert, list.first(16)).affected == 1;
  const std::size_t count = c.update_rings() ? 18 : 17;
  if (c.run(statement::update, list.first(count)).affected == 0) return false;
  AFAR_FAULT("sql.row.stored");
  if (!c.update_rings()) c.ring_later(calls);
  return true;
}

// ---- claims -------------------------------------------------------------------------------------

records::claims claims_of(const row& r) {
  records::claims c;
  if (is_claim(r.kind) && r.form == shape::recorded)
    c = decoded<records::claims>(r.record);
  else if (is_claim(r.kind)) {
    c.kind = static_cast<spi::kind>(r.kind);
    if (!r.owner.empty()) {
      records::holder& h = c.holders.emplace_back();
      h.owner = owner_of(r.owner);
      h.token = static_cast<std::uint64_t>(r.token);
      h.last_token = static_cast<std::uint64_t>(r.last_token);
      h.since = at_us(r.since_us);
      h.until = at_us(r.until_us);
      h.renewed = at_us(r.renewed_us);
      h.renewals = static_cast<std::uint32_t>(r.renewals);
      h.note = r.note;
    }
    if (r.form == shape::joined) add_arrivals(c, r.record);
  }
  c.last_token = std::max(c.last_token, static_cast<std::uint64_t>(r.last_token));
  return c;
}

void put_claims(row& r, const records::claims& c) {
  r.kind = static_cast<std::int64_t>(c.kind);
  r.last_token = static_cast<std::int64_t>(c.last_token);
  r.value.reset();
  r.form = says_all(c) ? shape::plain : shape::recorded;
  r.record = r.form == shape::plain ? std::string{} : encoded(c);
  if (c.holders.size() == 1 && c.holders[0].mode == spi::access::exclusive)
    show_holder(r, c.holders[0]);
  else
    show_nobody(r);
}

std::string arrival_of(const spi::claim& a, std::uint64_t bell) {
  records::claims c;
  records::place& p = c.line.emplace_back();
  p.owner = a.owner;
  p.session = bell;
  p.mode = a.mode;
  p.permits = a.permits;
  p.note = a.note;
  put_terms(p, a);
  return encoded(c);
}

// ---- cells and ledgers --------------------------------------------------------------------------

records::cell cell_of(const row& r) {
  const bool is_cell = r.kind >= static_cast<std::int64_t>(spi::kind::counter) &&
                       r.kind <= static_cast<std::int64_t>(spi::kind::semaphore);
  return is_cell ? decoded<records::cell>(r.record) : records::cell{};
}

void put_cell(row& r, const records::cell& c) {
  if (!c.exists && c.results.empty()) return clear(r);
  show_nobody(r);
  r.kind = static_cast<std::int64_t>(c.kind);
  r.form = shape::recorded;
  r.value = c.exists ? std::optional{c.value} : std::nullopt;
  r.record = encoded(c);
}

records::ledger_record ledger_of(const row& r) { return decoded<records::ledger_record>(r.record); }

void put_ledger(row& r, const records::ledger_head& head) {
  show_nobody(r);
  r.kind = static_cast<std::int64_t>(spi::kind::stock);
  r.form = shape::recorded;
  r.value = head.remaining;
  r.record = encoded(records::ledger_record{1, head});
}

void clear(row& r) {
  show_nobody(r);
  r.kind = 0;
  r.form = shape::plain;
  r.value.reset();
  r.record.clear();
}

std::optional<records::usage> used_as(const row& r) {
  if (r.kind == 0) return std::nullopt;
  if (r.kind == static_cast<std::int64_t>(spi::kind::stock))
    return records::usage{spi::kind::stock};
  if (!is_claim(r.kind)) {
    const records::cell c = cell_of(r);
    return c.exists ? std::optional{records::usage{c.kind}} : std::nullopt;
  }
  records::claims c = claims_of(r);
  records::moment m;
  m.now = at_us(r.now_us);
  m.calendar_us = static_cast<std::uint64_t>(r.now_us);
  records::effects ignored;
  records::sweep(c, m, ignored);
  if (c.holders.empty() && c.line.empty()) return std::nullopt;
  return records::usage{c.kind, c.limit};
}

spi::owner_id owner_of(std::string_view text) noexcept {
  spi::owner_id o;
  std::uint64_t* half = &o.client_high;
  int digits = 0;
  const auto colon = std::min(text.find(':'), text.size());
  for (const char c : text.substr(0, colon)) {
    if (c == '-') continue;
    if (digits++ == 16) half = &o.client_low;
    const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
    *half = *half << 4U | static_cast<std::uint64_t>(digit & 0xf);
  }
  for (const char c : text.substr(std::min(colon + 1, text.size())))
    o.number = o.number * 10 + static_cast<std::uint64_t>(c - '0');
  return o;
}

}  // namespace afar::engines::sql
