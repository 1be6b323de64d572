// Cells and ledgers. A cell is one row. A ledger is its row and those of its orders and buyers: they
// are read without a lock and written in one transaction that begins with the ledger's own row, and
// only if that is still the one that was read first. So all that was read is of one moment.
#include "engines/records/ledger.hpp"
#include "engines/sql/attempts.hpp"
#include "engines/sql/steps.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace afar::engines::sql {
namespace {

using spi::kind;

constexpr std::size_t longest_text = 4'096;

bool is_cell(std::int64_t k) {
  return k >= static_cast<std::int64_t>(kind::counter) &&
         k <= static_cast<std::int64_t>(kind::semaphore);
}

// What was changed is kept here until it is written.
class ledger_book final : public records::ledger_pages {
 public:
  ledger_book(connection& on, std::string_view name, const row& before)
      : on_(on), name_(name), before_(before) {
    if (before.kind == static_cast<std::int64_t>(kind::stock)) head_ = ledger_of(before).head;
  }

  bool changed() const noexcept { return head_changed_ || erased_; }
  const std::optional<records::ledger_head>& now() const noexcept { return head_; }

  // Behind the ledger's row, in the same transaction.
  void write() {
    if (erased_) {
      on_.ask(statement::erase_orders, name_);
      on_.ask(statement::erase_units, name_);
    }
    for (const auto& [id, o] : orders_)
      if (o.dirty && o.value)
        on_.ask(statement::put_order, name_, std::string_view{id}, std::string_view{o.value->buyer},
                o.value->amount, static_cast<std::int64_t>(o.value->state),
                o.value->state == records::order_state::reserved
                    ? parameter{us_of(o.value->expires)}
                    : parameter{});
    for (const auto& [buyer, u] : units_)
      if (u.dirty) on_.ask(statement::put_units, name_, std::string_view{buyer}, u.value);
  }

  std::optional<records::ledger_head> head() override { return head_; }
  void put_head(const records::ledger_head& h) override {
    head_ = h;
    head_changed_ = true;
  }
  std::optional<records::order> find(std::string_view id) override {
    const auto at = orders_.find(id);
    if (at != orders_.end()) return at->second.value;
    page<std::optional<records::order>> read;
    const answer a = on_.ask(statement::find_order, name_, id);
    if (!a.rows.empty()) {
      const auto& f = a.rows[0];
      read.value =
          records::order{f[0].text, f[1].number, static_cast<records::order_state>(f[2].number),
                         f[3].null ? spi::time_point{} : at_us(f[3].number)};
    }
    return orders_.emplace(id, std::move(read)).first->second.value;
  }
  void put(std::string_view id, const records::order& o) override {
    auto& p = orders_[std::string{id}];
    p.value = o;
    // As it is stored, so that both agree on when it is due.
    p.value->expires = at_us(us_of(o.expires));
    p.dirty = true;
  }
  std::int64_t units_of(std::string_view buyer) override {
    const auto at = units_.find(buyer);
    if (at != units_.end()) return at->second.value;
    const answer a = on_.ask(statement::find_units, name_, buyer);
    const std::int64_t units = a.rows.empty() ? 0 : a.rows[0][0].number;
    units_.emplace(buyer, page<std::int64_t>{units, false});
    return units;
  }
  void put_units(std::string_view buyer, std::int64_t units) override {
    units_[std::string{buyer}] = {units, true};
  }
  // The order's own column says when it is due.
  void put_deadline(spi::time_point, std::string_view) override {}
  void erase_deadline(spi::time_point, std::string_view id) override { over_.emplace_back(id); }
  std::optional<std::pair<spi::time_point, std::string>> first_deadline() override {
    if (!head_ || head_->reserved == 0) return std::nullopt;
    if (!due_read_) read_due();
    for (const auto& d : due_)
      if (std::ranges::find(over_, d.second) == over_.end()) return d;
    return std::nullopt;
  }
  void erase_all() override {
    erased_ = true;
    head_.reset();
    orders_.clear();
    units_.clear();
  }

 private:
  template <class Value>
  struct page {
    Value value{};
    bool dirty = false;
  };

  void read_due() {
    due_read_ = true;
    for (const auto& f : on_.ask(statement::due, name_, before_.now_us).rows)
      due_.emplace_back(at_us(f[0].number), f[1].text);
  }

  connection& on_;
  const std::string_view name_;
  const row& before_;
  std::optional<records::ledger_head> head_;
  bool head_changed_ = false;
  bool erased_ = false;
  bool due_read_ = false;
  std::map<std::string, page<std::optional<records::order>>, std::less<>> orders_;
  std::map<std::string, page<std::int64_t>, std::less<>> units_;
  std::vector<std::pair<spi::time_point, std::string>> due_;
  std::vector<std::string> over_;
};

}  // namespace

spi::status change(const desk& d, const spi::cell_change& ch, spi::cell_reply& reply) {
  if (auto refused = check_name(ch.what.name)) return refused;
  spi::status s = on_row(d, ch.what.name, [&](const row& before, row& after, news& n) -> verdict {
    if (!is_cell(before.kind))
      if (const auto used = used_as(before)) return {records::wrong_use(*used, {ch.what.kind})};
    records::cell c = cell_of(before);
    records::cell_effects e;
    reply = {};
    spi::status failed = records::change(c, ch, at_us(before.now_us), reply, e);
    if (!e.changed) return {std::move(failed)};
    put_cell(after, c);
    n.shown = e.woke;
    return {std::move(failed), true};
  });
  reply.watch_key = name_key(ch.what.name);
  return s;
}

spi::status record(const desk& d, const spi::ledger_change& ch, spi::ledger_reply& reply) {
  if (auto refused = check_name(ch.what.name)) return refused;
  if (ch.order.size() > longest_text || ch.buyer.size() > longest_text)
    return {errc::bad_argument, "order ids and buyers have at most 4096 bytes"};
  for (int attempts = 1;; ++attempts) {
    check_time(d);
    spi::status failed;
    const bool done = insistently(d, [&] {
      const row before = load(d.on, ch.what.name);
      if (before.kind != static_cast<std::int64_t>(kind::stock))
        if (const auto used = used_as(before)) {
          failed = records::wrong_use(*used, {kind::stock});
          return true;
        }
      ledger_book book{d.on, ch.what.name, before};
      const auto now = std::chrono::microseconds{before.now_us};
      failed =
          records::record(book, ch, at_us(before.now_us),
                          spi::calendar_time{std::chrono::floor<spi::milliseconds>(now)}, reply);
      if (!book.changed()) return true;
      row after = before;
      if (book.now())
        put_ledger(after, *book.now());
      else
        clear(after);
      news n;
      if (before.watched()) add_watchers(d, ch.what.name, before, n);
      if (n.any) ++after.rings;
      transaction t{d.on};
      if (!store(d.on, ch.what.name, before, after, end_of(d),
                 d.on.update_rings() ? n.calls : news{}.calls))
        return false;
      book.write();
      AFAR_FAULT("sql.record.before_commit");
      t.commit();
      if (!d.on.update_rings()) d.on.ring_later(n.calls);
      return true;
    });
    if (done) return failed;
    pause_after(attempts);
  }
}

std::int64_t watch_name(const desk& d, std::string_view name) {
  constexpr std::int64_t time_us = 15'000'000;
  const auto bell = static_cast<std::int64_t>(d.ear.bell_soon());
  return insistently(d, [&] {
    if (bell != 0) d.on.ask(statement::listen, name, bell, time_us);
    d.on.ask(statement::mark, name, time_us);
    return load(d.on, name).rings;
  });
}

}  // namespace afar::engines::sql
