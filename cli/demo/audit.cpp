#include "demo/audit.hpp"

#include <afar/client.hpp>
#include <afar/stock.hpp>

#include <cstdio>
#include <fstream>
#include <map>

namespace afar::cli::demo {

namespace {

void audit_lock(const team& crew, const std::vector<life>& lives, results& r) {
  const std::vector<belief> held = beliefs(lives);
  std::vector<std::int64_t> waits;
  waits.reserve(held.size());
  for (const belief& b : held) waits.push_back(b.from - b.asked);
  r.acquisitions = held.size();
  r.wait_p50 = percentile(waits, 0.50);
  r.wait_p99 = percentile(waits, 0.99);
  r.overlaps = overlaps(held);
  r.tokens_out_of_order = tokens_out_of_order(held);

  std::vector<std::int64_t> gaps;
  for (const kill_made& k : crew.kills()) {
    ++r.kills;
    if (k.state == doing::waiting) ++r.killed_waiting;
    if (k.state != doing::working && k.state != doing::writing) continue;
    ++r.killed_holding;
    if (const auto gap = next_grant(held, k.at)) gaps.push_back(*gap);
  }
  r.crash_p50 = percentile(gaps, 0.50);
  r.crash_most = percentile(gaps, 1.00);
}

void audit_writes(const place& where, const team& crew, const std::vector<life>& lives,
                  results& r) {
  std::ifstream lines{where.protected_file(), std::ios::binary};
  std::uint64_t largest = 0;
  for (entry line; lines.read(reinterpret_cast<char*>(&line), sizeof line);) {
    if (line.token < largest) ++r.stale_accepted;
    largest = std::max(largest, line.token);
  }
  std::set<std::uint64_t> refused;
  for (const life& l : lives)
    for (const fact& f : l.facts)
      if (f.what == act::refused) refused.insert(f.token);
  r.stale_refused = refused.size();

  for (const pause_made& p : crew.pauses()) {
    if (!p.bit) {
      r.broken.emplace_back("nobody got the lock although its holder was paused past the lease");
      continue;
    }
    ++r.pauses;
    if (!refused.contains(p.token))
      r.broken.emplace_back("a paused holder's write was not refused");
  }
}

void audit_stock(const place& where, std::int64_t stock, const std::vector<life>& lives,
                 results& r) {
  const afar::client client{where.url};
  afar::stock shop{client, where.stock_name()};
  for (const life& l : lives) {
    std::map<std::uint32_t, act> orders;
    for (const fact& f : l.facts)
      if (f.what == act::ordering || f.what == act::sold || f.what == act::sold_out ||
          f.what == act::failed)
        orders[f.order] = f.what;
    for (const auto& [order, answer] : orders) {
      bool sold = answer == act::sold;
      if (answer == act::ordering || answer == act::failed)
        sold = shop.take(1, order_id(l.worker, l.number, order), "anybody") ==
               afar::take_result::taken;
      if (sold) ++r.sold;
    }
  }
  const auto levels = shop.levels().value_or(afar::stock_levels{});
  r.remaining = levels.remaining;
  r.oversold = std::max<std::int64_t>({0, r.sold - stock, -levels.remaining});
  if (levels.taken != r.sold || levels.remaining + levels.reserved + levels.taken != stock)
    r.broken.emplace_back("units were not conserved: " + std::to_string(levels.taken) +
                          " taken and " + std::to_string(levels.remaining) + " left, but " +
                          std::to_string(r.sold) + " sold of " + std::to_string(stock));
  shop.erase();
}

}  // namespace

results audit(const place& where, const options& wanted, const team& crew) {
  results r;
  const std::vector<life> lives = crew.lives();
  if (!crew.records_complete()) r.broken.emplace_back("a record file was too small");
  audit_lock(crew, lives, r);
  audit_writes(where, crew, lives, r);
  audit_stock(where, wanted.stock, lives, r);
  if (r.overlaps != 0) r.broken.emplace_back("two processes held the lock at once");
  if (r.tokens_out_of_order != 0) r.broken.emplace_back("a token went back");
  if (r.stale_accepted != 0) r.broken.emplace_back("a stale write was accepted");
  if (r.oversold != 0) r.broken.emplace_back("more was sold than there was");
  if (r.acquisitions == 0) r.broken.emplace_back("nobody ever got the lock");
  return r;
}

}  // namespace afar::cli::demo
