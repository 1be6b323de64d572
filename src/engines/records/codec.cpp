#include "engines/records/codec.hpp"

#include "engines/bytes.hpp"

#include <algorithm>
#include <chrono>

namespace afar::engines::records {
namespace {

using spi::time_point;
using std::chrono::nanoseconds;

constexpr std::size_t owner_bytes = 24;
constexpr std::size_t claims_head = 48;
constexpr std::size_t holder_bytes = owner_bytes + 60;
constexpr std::size_t place_bytes = owner_bytes + 40;
constexpr std::size_t terms_bytes = 12;
constexpr std::size_t eviction_bytes = owner_bytes + 8;
constexpr std::size_t verdict_bytes = owner_bytes + 24;
constexpr std::size_t past_bytes = 40;
constexpr std::size_t cell_head = 32;
constexpr std::size_t result_bytes = owner_bytes + 32;

void put(byte_writer& out, const spi::owner_id& o) noexcept {
  out.number(o.client_high);
  out.number(o.client_low);
  out.number(o.number);
}

void put(byte_writer& out, time_point t) noexcept {
  out.number(static_cast<std::int64_t>(t.time_since_epoch().count()));
}

spi::owner_id get_owner(byte_reader& in) noexcept {
  spi::owner_id o;
  o.client_high = in.number<std::uint64_t>();
  o.client_low = in.number<std::uint64_t>();
  o.number = in.number<std::uint64_t>();
  return o;
}

time_point get_time(byte_reader& in) noexcept {
  return time_point{time_point::duration{in.number<std::int64_t>()}};
}

spi::access get_access(byte_reader& in) noexcept {
  const auto mode = in.number<std::uint8_t>();
  if (mode > 1) in.fail();
  return static_cast<spi::access>(mode);
}

bool get_bool(byte_reader& in) noexcept {
  const auto value = in.number<std::uint8_t>();
  if (value > 1) in.fail();
  return value == 1;
}

spi::kind get_kind(byte_reader& in, spi::kind first, spi::kind last) noexcept {
  const auto k = static_cast<spi::kind>(in.number<std::uint8_t>());
  if (k < first || k > last) in.fail();
  return k;
}

// ---- claims -----------------------------------------------------------------------------------

void put(byte_writer& out, const holder& h) noexcept {
  put(out, h.owner);
  out.number(h.session);
  out.number(h.token);
  out.number(h.last_token);
  put(out, h.since);
  put(out, h.until);
  put(out, h.renewed);
  out.number(h.renewals);
  out.number(h.permits);
  out.number(static_cast<std::uint8_t>(h.mode));
  out.zeros(1);
  out.number(static_cast<std::uint16_t>(h.note.size()));
  out.text(h.note);
}

void get(byte_reader& in, holder& h) {
  h.owner = get_owner(in);
  h.session = in.number<std::uint64_t>();
  h.token = in.number<std::uint64_t>();
  h.last_token = in.number<std::uint64_t>();
  h.since = get_time(in);
  h.until = get_time(in);
  h.renewed = get_time(in);
  h.renewals = in.number<std::uint32_t>();
  h.permits = in.number<std::uint32_t>();
  h.mode = get_access(in);
  in.skip(1);
  h.note = in.text(in.number<std::uint16_t>());
}

void put(byte_writer& out, const place& p) noexcept {
  put(out, p.owner);
  out.number(p.session);
  put(out, p.since);
  put(out, p.until);
  put(out, p.called);
  out.number(p.permits);
  out.number(static_cast<std::uint8_t>(p.mode));
  out.zeros(1);
  out.number(static_cast<std::uint16_t>(p.note.size()));
  out.text(p.note);
}

// A step reads the whole line. So its bounds are checked once per place, and a note that the record had
// there before, as in a line of one process, is not written again.
void get(byte_reader& in, place& p) {
  const char* const at = in.text(place_bytes).data();
  if (at == nullptr) return;
  const auto time = [&](std::size_t i) {
    return time_point{nanoseconds{load<std::int64_t>(at + i)}};
  };
  p.owner = {load<std::uint64_t>(at), load<std::uint64_t>(at + 8), load<std::uint64_t>(at + 16)};
  p.session = load<std::uint64_t>(at + 24);
  p.since = time(32);
  p.until = time(40);
  p.called = time(48);
  p.permits = load<std::uint32_t>(at + 56);
  p.mode = static_cast<spi::access>(load<std::uint8_t>(at + 60));
  if (p.mode > spi::access::shared) in.fail();
  const std::string_view note = in.text(load<std::uint16_t>(at + 62));
  if (p.note != note) p.note = note;
  p.lease = {};  // unless get_terms() says more
  p.handoffs = 0;
}

void put(byte_writer& out, const eviction& e) noexcept {
  put(out, e.owner);
  put(out, e.until);
}

void get(byte_reader& in, eviction& e) noexcept {
  e.owner = get_owner(in);
  e.until = get_time(in);
}

void put(byte_writer& out, const verdict& v) noexcept {
  put(out, v.owner);
  out.number(v.token);
  put(out, v.until);
  out.number(static_cast<std::uint8_t>(v.broken));
  out.zeros(7);
}

void get(byte_reader& in, verdict& v) noexcept {
  v.owner = get_owner(in);
  v.token = in.number<std::uint64_t>();
  v.until = get_time(in);
  v.broken = get_bool(in);
  in.skip(7);
}

void put(byte_writer& out, const past_hold& p) noexcept {
  out.number(p.session);
  out.number(p.token);
  put(out, p.since);
  put(out, p.until);
  out.number(static_cast<std::uint8_t>(p.why));
  out.zeros(7);
}

void get(byte_reader& in, past_hold& p) noexcept {
  p.session = in.number<std::uint64_t>();
  p.token = in.number<std::uint64_t>();
  p.since = get_time(in);
  p.until = get_time(in);
  p.why = static_cast<spi::loss>(in.number<std::uint8_t>());
  if (p.why > spi::loss::closed) in.fail();
  in.skip(7);
}

void put(byte_writer& out, const cell_result& r) noexcept {
  put(out, r.op);
  out.number(r.value);
  out.number(r.before);
  put(out, r.at);
  out.number(static_cast<std::uint8_t>(r.applied));
  out.number(static_cast<std::uint8_t>(r.exists));
  out.zeros(6);
}

void get(byte_reader& in, cell_result& r) noexcept {
  r.op = get_owner(in);
  r.value = in.number<std::int64_t>();
  r.before = in.number<std::int64_t>();
  r.at = get_time(in);
  r.applied = get_bool(in);
  r.exists = get_bool(in);
  in.skip(6);
}

template <class T>
void get_list(byte_reader& in, std::vector<T>& list, std::size_t count, std::size_t each) {
  if (!in.can_hold(count, each)) return list.clear();
  list.resize(count);  // what was there keeps its memory, and every field is read anew
  for (T& item : list) get(in, item);
}

// What the places want, if one says it: behind everything else, where who does not know of it reads
// nothing.
bool has_terms(const place& p) noexcept { return p.lease.count() != 0; }

void put_terms(byte_writer& out, const place& p) noexcept {
  out.number(static_cast<std::int64_t>(p.lease.count()));
  out.number(p.handoffs);
}

void get_terms(byte_reader& in, place& p) noexcept {
  p.lease = milliseconds{in.number<std::int64_t>()};
  p.handoffs = in.number<std::uint32_t>();
}

template <class T>
std::uint32_t count(const std::vector<T>& list) noexcept {
  return static_cast<std::uint32_t>(list.size());
}

}  // namespace

std::size_t encoded_size(const claims& c) noexcept {
  std::size_t size = claims_head + c.holders.size() * holder_bytes + c.line.size() * place_bytes +
                     c.evictions.size() * eviction_bytes + c.verdicts.size() * verdict_bytes +
                     c.past_holds * past_bytes;
  for (const holder& h : c.holders) size += h.note.size();
  bool terms = false;
  for (const place& p : c.line) {
    size += p.note.size();
    terms |= has_terms(p);
  }
  return terms ? size + c.line.size() * terms_bytes : size;
}

void encode(const claims& c, std::byte* to) noexcept {
  byte_writer out{to};
  out.number(static_cast<std::uint8_t>(c.kind));
  out.zeros(3);
  out.number(c.limit);
  out.number(count(c.holders));
  out.number(count(c.line));
  out.number(count(c.evictions));
  out.number(count(c.verdicts));
  out.number(c.past_holds);
  byte_writer terms_said = out;
  out.zeros(sizeof(std::uint32_t));
  out.number(c.last_token);
  put(out, c.idle_since);
  for (const holder& h : c.holders) put(out, h);
  bool terms = false;
  for (const place& p : c.line) {
    put(out, p);
    terms |= has_terms(p);
  }
  for (const eviction& e : c.evictions) put(out, e);
  for (const verdict& v : c.verdicts) put(out, v);
  for (std::uint32_t i = 0; i < c.past_holds; ++i) put(out, c.history[i]);
  if (!terms) return;
  terms_said.number(std::uint32_t{1});
  for (const place& p : c.line) put_terms(out, p);
}

bool decode(std::span<const std::byte> from, claims& c) {
  byte_reader in{from};
  c.kind = get_kind(in, spi::kind::mutex, spi::kind::election);
  in.skip(3);
  c.limit = in.number<std::uint32_t>();
  const auto holders = in.number<std::uint32_t>();
  const auto line = in.number<std::uint32_t>();
  const auto evictions = in.number<std::uint32_t>();
  const auto verdicts = in.number<std::uint32_t>();
  c.past_holds = in.number<std::uint32_t>();
  const auto terms = in.number<std::uint32_t>();
  c.last_token = in.number<std::uint64_t>();
  c.idle_since = get_time(in);
  get_list(in, c.holders, holders, holder_bytes);
  get_list(in, c.line, line, place_bytes);
  get_list(in, c.evictions, evictions, eviction_bytes);
  get_list(in, c.verdicts, verdicts, verdict_bytes);
  if (c.past_holds > c.history.size()) in.fail();
  for (std::uint32_t i = 0; i < c.past_holds && !in.failed(); ++i) get(in, c.history[i]);
  for (place& p : c.line)
    if (terms != 0 && !in.failed()) get_terms(in, p);
  return !in.failed();
}

// ---- cells ------------------------------------------------------------------------------------

std::size_t encoded_size(const cell& c) noexcept {
  return cell_head + c.results.size() * result_bytes;
}

void encode(const cell& c, std::byte* to) noexcept {
  byte_writer out{to};
  out.number(static_cast<std::uint8_t>(c.kind));
  out.number(static_cast<std::uint8_t>(c.exists));
  out.zeros(2);
  out.number(count(c.results));
  out.number(c.value);
  put(out, c.changed_at);
  out.zeros(8);
  for (const cell_result& r : c.results) put(out, r);
}

bool decode(std::span<const std::byte> from, cell& c) {
  byte_reader in{from};
  c.kind = get_kind(in, spi::kind::counter, spi::kind::semaphore);
  c.exists = get_bool(in);
  in.skip(2);
  const auto results = in.number<std::uint32_t>();
  c.value = in.number<std::int64_t>();
  c.changed_at = get_time(in);
  in.skip(8);
  get_list(in, c.results, results, result_bytes);
  return !in.failed();
}

}  // namespace afar::engines::records
