// What all clients of one memory: URL in this process share. Every step locks once, changes one
// record and says whom to wake; the engine wakes them when the lock is free again.
//
// Invariants (under mutex_)
//   1. A name is in use by one family only: claims that somebody holds or waits for, a cell that
//      exists, or a ledger. A record that is not in use may hold remains of other families.
//   2. hand_ is an element of records_ or its end.
#pragma once

#include <afar/spi/engine.hpp>

#include "engines/memory/memory_ledger.hpp"
#include "engines/records/cells.hpp"
#include "engines/records/claims.hpp"
#include "engines/records/wrong_use.hpp"
#include "engines/visits.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace afar::engines::memory {

// The engine's clocks. Tests drive their own.
class time_source {
 public:
  virtual ~time_source() = default;
  virtual spi::time_point now() const noexcept;
  virtual std::chrono::microseconds calendar() const noexcept;  // since 1970
};

// One engine's ear. Shared with the wakes that are on their way to it.
struct listener : visits {
  explicit listener(spi::host& h) : up(h) {}
  spi::host& up;
};

// Wakes that a step caused.
class wakes {
 public:
  void add(std::shared_ptr<listener> who, std::string key) {
    list_.emplace_back(std::move(who), std::move(key));
  }
  // Calls the hosts; not with a lock held.
  void deliver() noexcept;

 private:
  std::vector<std::pair<std::shared_ptr<listener>, std::string>> list_;
};

class memory_store {
 public:
  // The store of that path: one per process as long as somebody has it.
  static std::shared_ptr<memory_store> of(const std::string& path);

  explicit memory_store(std::shared_ptr<const time_source> time);

  spi::status acquire(const spi::claim&, spi::acquire_reply&, wakes&);
  spi::renew_reply renew(const spi::claim&, wakes&);
  spi::release_reply release(const spi::claim&, wakes&);
  spi::release_reply evict(const spi::resource&, const spi::owner_id&, std::uint64_t token, wakes&);
  spi::status change(const spi::cell_change&, spi::cell_reply&, wakes&);
  spi::status record(const spi::ledger_change&, spi::ledger_reply&, wakes&);
  spi::survey_reply survey(const spi::survey_query&);

  // True: a wake of this key may already have been missed.
  bool watch(std::string_view key, const std::shared_ptr<listener>&);
  void unwatch(std::string_view key, const listener&) noexcept;
  void forget(const listener&) noexcept;  // all its watches

  std::size_t size() const;  // records, those that only wait to be collected included

 private:
  struct entry {
    std::optional<records::claims> claims;
    std::optional<records::cell> cell;
    std::optional<memory_ledger> ledger;
  };
  using table = std::map<std::string, entry, std::less<>>;

  records::moment moment() const;
  table::iterator at(std::string_view name);
  static std::optional<records::usage> used_as(const entry&);
  spi::status check_use(table::iterator, const spi::resource&, const records::moment&, wakes&);
  void look_after(table::iterator, const records::moment&, wakes&);
  void collect(const records::moment&, wakes&);
  void tidy(table::iterator, spi::time_point now);
  void wake(std::string_view key, wakes&) const;
  void pass_on(const records::effects&, const std::string& name, wakes&) const;
  void describe(const table::value_type&, const spi::survey_query&, spi::survey_reply&) const;

  const std::shared_ptr<const time_source> time_;

  mutable std::mutex mutex_;  // guards everything below
  table records_;
  table::iterator hand_;  // collect() goes on here
  std::map<std::string, std::vector<std::shared_ptr<listener>>, std::less<>> watches_;
};

// The keys that replies name and watchers watch.
std::string claim_key(const spi::owner_id&, std::string_view name);
std::string name_key(std::string_view name);
std::string cell_key(std::string_view name);

}  // namespace afar::engines::memory
