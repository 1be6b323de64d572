#include "engines/memory/memory_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace afar::engines::memory {
namespace {

constexpr std::size_t longest_note = 1'024;
constexpr int looks_per_step = 2;  // enough: a step leaves at most one record behind

// A claim's key is 'q', the owner's bytes and the name.
constexpr std::size_t owner_size = sizeof(spi::owner_id);
static_assert(owner_size == 24 && std::is_trivially_copyable_v<spi::owner_id>);

}  // namespace

std::string claim_key(const spi::owner_id& owner, std::string_view name) {
  std::string key(1 + owner_size, 'q');
  std::memcpy(key.data() + 1, &owner, owner_size);
  return key.append(name);
}
std::string name_key(std::string_view name) { return std::string{"n"}.append(name); }
std::string cell_key(std::string_view name) { return std::string{"c"}.append(name); }

spi::time_point time_source::now() const noexcept { return boot_clock::now(); }
std::chrono::microseconds time_source::calendar() const noexcept {
  return std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

void wakes::deliver() noexcept {
  for (auto& [who, key] : list_)
    if (visits::guard open{who}) who->up.wake(key);
  list_.clear();
}

std::shared_ptr<memory_store> memory_store::of(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<memory_store>> stores;
  std::lock_guard lock{mutex};
  std::erase_if(stores, [](const auto& s) { return s.second.expired(); });
  if (auto known = stores[path].lock()) return known;
  auto fresh = std::make_shared<memory_store>(std::make_shared<time_source>());
  stores[path] = fresh;
  return fresh;
}

memory_store::memory_store(std::shared_ptr<const time_source> time)
    : time_(std::move(time)), hand_(records_.end()) {}

// ---- steps --------------------------------------------------------------------------------------

spi::status memory_store::acquire(const spi::claim& a, spi::acquire_reply& reply, wakes& out) {
  if (a.note.size() > longest_note) return {errc::bad_argument, "a note has at most 1024 bytes"};
  std::lock_guard lock{mutex_};
  const records::moment m = moment();
  collect(m, out);
  const auto it = at(a.what.name);
  if (auto failed = check_use(it, a.what, m, out)) {
    tidy(it, m.now);
    return failed;
  }
  if (!it->second.claims) it->second.claims = records::fresh_claims(a);
  records::effects e;
  spi::status s = records::acquire(*it->second.claims, a, m, reply, e);
  if (!s && !reply.granted && reply.why == spi::loss::none)
    reply.watch_key = claim_key(a.owner, a.what.name);
  pass_on(e, it->first, out);
  tidy(it, m.now);
  return s;
}

spi::renew_reply memory_store::renew(const spi::claim& a, wakes& out) {
  std::lock_guard lock{mutex_};
  const auto it = records_.find(a.what.name);
  if (it == records_.end() || !it->second.claims) return {.why = spi::loss::expired, .lease = {}};
  records::effects e;
  const spi::renew_reply reply = records::renew(*it->second.claims, a, moment(), e);
  pass_on(e, it->first, out);
  return reply;
}

spi::release_reply memory_store::release(const spi::claim& a, wakes& out) {
  std::lock_guard lock{mutex_};
  const records::moment m = moment();
  collect(m, out);
  const auto it = records_.find(a.what.name);
  if (it == records_.end() || !it->second.claims) return spi::release_reply::gone;
  records::effects e;
  const auto reply = records::release(*it->second.claims, a.owner, m, e);
  pass_on(e, it->first, out);
  return reply;
}

spi::release_reply memory_store::evict(const spi::resource& what, const spi::owner_id& owner,
                                       std::uint64_t token, wakes& out) {
  std::lock_guard lock{mutex_};
  const auto it = records_.find(what.name);
  if (it == records_.end() || !it->second.claims) return spi::release_reply::gone;
  records::effects e;
  const auto reply = records::evict(*it->second.claims, owner, token, moment(), e);
  pass_on(e, it->first, out);
  return reply;
}

spi::status memory_store::change(const spi::cell_change& ch, spi::cell_reply& reply, wakes& out) {
  std::lock_guard lock{mutex_};
  const records::moment m = moment();
  collect(m, out);
  const auto it = at(ch.what.name);
  spi::status s = check_use(it, ch.what, m, out);
  if (!s) {
    if (!it->second.cell) it->second.cell.emplace();
    records::cell_effects e;
    s = records::change(*it->second.cell, ch, m.now, reply, e);
    reply.watch_key = cell_key(ch.what.name);
    if (e.woke) wake(reply.watch_key, out);
  }
  tidy(it, m.now);
  return s;
}

spi::status memory_store::record(const spi::ledger_change& ch, spi::ledger_reply& reply,
                                 wakes& out) {
  std::lock_guard lock{mutex_};
  const records::moment m = moment();
  collect(m, out);
  const auto it = at(ch.what.name);
  spi::status s = check_use(it, ch.what, m, out);
  if (!s) {
    if (!it->second.ledger) it->second.ledger.emplace();
    const auto today = std::chrono::floor<spi::milliseconds>(time_->calendar());
    s = records::record(*it->second.ledger, ch, m.now, spi::calendar_time{today}, reply);
  }
  tidy(it, m.now);
  return s;
}

spi::survey_reply memory_store::survey(const spi::survey_query& q) {
  std::lock_guard lock{mutex_};
  spi::survey_reply reply;
  if (!q.name.empty()) {
    reply.watch_key = name_key(q.name);
    if (const auto it = records_.find(q.name); it != records_.end()) describe(*it, q, reply);
    return reply;
  }
  const std::size_t most = std::max<std::size_t>(q.most, 1);
  auto it = q.cursor.empty() ? records_.begin() : records_.upper_bound(q.cursor);
  for (; it != records_.end(); ++it) {
    describe(*it, q, reply);
    if (reply.entries.size() <= most) continue;
    reply.entries.pop_back();  // one too many: there is a next page
    reply.cursor = reply.entries.back().name;
    break;
  }
  return reply;
}

// ---- watches ------------------------------------------------------------------------------------

bool memory_store::watch(std::string_view key, const std::shared_ptr<listener>& who) {
  std::lock_guard lock{mutex_};
  auto& list = watches_[std::string{key}];
  if (std::ranges::find(list, who) == list.end()) list.push_back(who);
  if (key.size() < 1 + owner_size || key.front() != 'q') return true;

  // A claim in line that was not called has missed nothing.
  const auto it = records_.find(key.substr(1 + owner_size));
  if (it == records_.end() || !it->second.claims) return true;
  spi::owner_id owner;
  std::memcpy(&owner, key.data() + 1, owner_size);
  const auto& line = it->second.claims->line;
  const auto place = std::ranges::find(line, owner, &records::place::owner);
  return place == line.end() || place->called != spi::time_point{};
}

void memory_store::unwatch(std::string_view key, const listener& who) noexcept {
  std::lock_guard lock{mutex_};
  const auto it = watches_.find(key);
  if (it == watches_.end()) return;
  std::erase_if(it->second, [&](const auto& x) { return x.get() == &who; });
  if (it->second.empty()) watches_.erase(it);
}

void memory_store::forget(const listener& who) noexcept {
  std::lock_guard lock{mutex_};
  for (auto& [key, list] : watches_)
    std::erase_if(list, [&](const auto& x) { return x.get() == &who; });
  std::erase_if(watches_, [](const auto& w) { return w.second.empty(); });
}

std::size_t memory_store::size() const {
  std::lock_guard lock{mutex_};
  return records_.size();
}

// ---- parts (mutex_ held) ------------------------------------------------------------------------

records::moment memory_store::moment() const {
  records::moment m;
  m.now = time_->now();
  m.calendar_us = static_cast<std::uint64_t>(time_->calendar().count());
  return m;
}

memory_store::table::iterator memory_store::at(std::string_view name) {
  const auto it = records_.lower_bound(name);
  if (it != records_.end() && it->first == name) return it;
  return records_.emplace_hint(it, std::string{name}, entry{});
}

std::optional<records::usage> memory_store::used_as(const entry& r) {
  if (r.claims && !(r.claims->holders.empty() && r.claims->line.empty()))
    return records::usage{r.claims->kind, r.claims->limit};
  if (r.cell && r.cell->exists) return records::usage{r.cell->kind};
  if (r.ledger && r.ledger->exists()) return records::usage{spi::kind::stock};
  return std::nullopt;
}

// Uses by the same family are checked by the family's own step.
spi::status memory_store::check_use(table::iterator it, const spi::resource& what,
                                    const records::moment& m, wakes& out) {
  constexpr auto family = [](spi::kind k) {
    if (k == spi::kind::stock) return 2;
    return k >= spi::kind::counter ? 1 : 0;
  };
  auto used = used_as(it->second);
  if (!used || family(used->kind) == family(what.kind)) return {};
  look_after(it, m, out);  // the holders may be over
  used = used_as(it->second);
  return used ? records::wrong_use(*used, {what.kind}) : spi::status{};
}

void memory_store::look_after(table::iterator it, const records::moment& m, wakes& out) {
  if (!it->second.claims) return;
  records::effects e;
  records::sweep(*it->second.claims, m, e);
  pass_on(e, it->first, out);
}

void memory_store::collect(const records::moment& m, wakes& out) {
  for (int i = 0; i < looks_per_step && !records_.empty(); ++i) {
    if (hand_ == records_.end()) hand_ = records_.begin();
    const auto it = hand_++;
    look_after(it, m, out);
    tidy(it, m.now);
  }
}

void memory_store::tidy(table::iterator it, spi::time_point now) {
  entry& r = it->second;
  if (r.claims && collectable(*r.claims, now)) r.claims.reset();
  if (r.cell && collectable(*r.cell, now)) r.cell.reset();
  if (r.ledger && !r.ledger->exists()) r.ledger.reset();
  if (r.claims || r.cell || r.ledger) return;
  if (it == hand_) ++hand_;  // (inv 2)
  records_.erase(it);
}

void memory_store::wake(std::string_view key, wakes& out) const {
  const auto it = watches_.find(key);
  if (it == watches_.end()) return;
  for (const auto& who : it->second) out.add(who, it->first);
}

void memory_store::pass_on(const records::effects& e, const std::string& name, wakes& out) const {
  if (watches_.empty()) return;
  for (const spi::owner_id& owner : e.call) wake(claim_key(owner, name), out);
  if (e.holders_changed) wake(name_key(name), out);
}

void memory_store::describe(const table::value_type& named, const spi::survey_query& q,
                            spi::survey_reply& reply) const {
  const auto& [name, r] = named;
  const auto used = used_as(r);
  if (!used || (q.kind && *q.kind != used->kind)) return;
  spi::entry e;
  e.kind = used->kind;
  e.name = name;
  if (r.claims && r.claims->kind == used->kind) {
    e = records::describe(*r.claims, name, moment());
    if (e.holders.empty() && e.waiters.empty()) return;  // all of them are over
    for (auto& past : e.history) past.pid = ::getpid();  // whose else
  } else {
    e.value = used->kind == spi::kind::stock ? r.ledger->remaining() : r.cell->value;
  }
  if (!q.name.empty()) {
    e.format = "native";
    if (e.kind < spi::kind::counter)
      e.token_source =
          "the last one + 1, or the clock's microseconds; as long as this process lives";
  }
  reply.entries.push_back(std::move(e));
}

}  // namespace afar::engines::memory
