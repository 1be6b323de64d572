// Everything that this process shares with others through one folder: the session, the gates, the
// shards and the doorbell. There is one per process and folder, shared by all its engines, because
// LMDB wants one environment per file and a session is a process.
#pragma once

#include "engines/embedded/doorbell.hpp"
#include "engines/embedded/failure.hpp"
#include "engines/embedded/folder.hpp"
#include "engines/embedded/fork_mark.hpp"
#include "engines/embedded/listener.hpp"
#include "engines/embedded/sessions.hpp"
#include "engines/embedded/shard.hpp"
#include "engines/records/claims.hpp"

#include <afar/spi/engine.hpp>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace afar::engines::embedded {

class store {
 public:
  // The store of that folder, opened if this process has none. Throws failure.
  static std::shared_ptr<store> open(const address&, spi::time_point by);

  store(const address&, spi::time_point by);  // use open()
  store(const store&) = delete;
  store& operator=(const store&) = delete;
  ~store();

  // Runs body(environment&, const moment&) inside a shard's gate, then what is due there. Fails if
  // the process was forked or the folder is gone, if the gate is not free by `by`, or as the body
  // fails or throws.
  template <class Body>
  spi::status step(std::size_t shard, spi::time_point by, Body&& body) {
    if (forked() || lost_.load(std::memory_order_relaxed)) return unusable();
    spi::status result = caught([&] { return locked_step(shards_[shard], by, body); });
    if (has_dead_.load(std::memory_order_relaxed)) bury_dead();
    return result;
  }

  // All chores of all shards at once; counts the records that it removed.
  spi::status collect(spi::time_point by, std::uint64_t& records);

  // Wakes whom a step on a name's claims concerns. Outside any gate.
  void ring(const site&, const records::effects&) noexcept;

  bool forked() const noexcept { return mark_.forked(); }
  const folder& where() const noexcept { return folder_; }
  std::size_t buried() const noexcept { return buried_; }  // dead sessions found at opening
  listener& bell() noexcept { return listener_; }

  // Engines of this store, told when the session is lost.
  void attach(const std::shared_ptr<ear>&);
  void detach(const std::shared_ptr<ear>&) noexcept;

 private:
  template <class Body>
  spi::status locked_step(shard& at, spi::time_point by, Body& body) {
    if (auto blocked = at.door().enter(by)) return blocked;
    inside within{at.door()};
    const records::moment now = moment();
    spi::status result = body(at.opened(), now);
    if (at.chores_due(now.now)) do_chores(at, now, within);
    return result;
  }

  records::moment moment() const noexcept;
  spi::status unusable() const;
  std::optional<std::size_t> join();
  void do_chores(shard&, const records::moment&, inside&);
  void bury_dead() noexcept;

  const fork_mark mark_;
  folder folder_;
  const shared_mapping gates_;
  const shared_mapping bell_memory_;
  sessions sessions_;
  doorbell doorbell_;
  gate sessions_door_;
  std::deque<shard> shards_;
  records::alive_test alive_;
  std::atomic<bool> has_dead_{false};
  std::atomic<bool> lost_{false};  // the session counts as dead
  std::size_t buried_ = 0;
  listener listener_;  // its slot is taken in join()

  std::mutex ears_mutex_;
  std::vector<std::shared_ptr<ear>> ears_;
};

}  // namespace afar::engines::embedded
