// What a primitive with an owner shares with the waits that outlive it: its client, its line and the
// holds that lock() keeps.
//
// Invariants
//   1. A hold that is kept is in kept_ exactly once; whoever takes it out ends it.
//   2. line->self names the thread and body of the last lock() that succeeded and was not undone.
//      It is cleared before the hold ends, so that it never hides the next one's.
//   3. In a forked child no mutex here is taken: another thread may have held it at the fork.
#pragma once

#include "core/client_state.hpp"
#include "core/hold_state.hpp"

#include <afar/detail/claimable.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace afar::detail {

class claim_body {
 public:
  claim_body(std::shared_ptr<client_state>, spi::kind, const std::string& name,
             std::uint32_t limit);
  claim_body(const claim_body&) = delete;
  claim_body& operator=(const claim_body&) = delete;
  ~claim_body() = default;  // kept holds are ended by drop_all()

  core& owner() const noexcept { return client_->get(); }
  const std::shared_ptr<client_state>& client() const noexcept { return client_; }
  const std::shared_ptr<local_line>& line() const noexcept { return line_; }
  const std::string& name() const noexcept { return line_->name(); }
  std::uint32_t limit() const noexcept { return limit_; }

  // errc::bad_argument for permits out of range.
  spi::status check(const wish&) const;
  claim_request request(wish) const;
  // Waits. Null with a status: not got, see core::acquire.
  hold_ptr acquire(wish, std::string note, spi::status&) const;
  // The hold as the user gets it. Of a barrier there is nothing to hold.
  hold give(hold_ptr) const;

  // lock() and unlock(). The status of what is busy is errc::timed_out.
  bool keep(wish, spi::status&);
  // Its halves: may this thread lock, or would it wait for itself? And: it has.
  spi::status may_lock(const deadline&);
  void locked(hold_ptr, claim_mode, bool by_lock);
  // What unlock() has to end, no longer kept. Null, and counted: nothing is locked.
  hold_ptr unlocked(claim_mode);
  bool convert(claim_mode to, spi::status&);
  void drop_all() noexcept;

  // This thread's, else the one that was locked last; null: nothing is locked.
  hold_ptr kept() const;
  std::uint64_t kept_token() const;  // its token, or 0

 private:
  struct kept_hold {
    hold_ptr hold;
    claim_mode mode;
    std::thread::id thread;
  };
  std::vector<kept_hold>::iterator find_kept(claim_mode);  // m_ held
  const hold_ptr* find_shown() const;                      // m_ held
  void set_self();
  void step_aside() const;
  void clear_self(std::thread::id) noexcept;

  const std::shared_ptr<client_state> client_;
  const std::shared_ptr<local_line> line_;
  const std::uint32_t limit_;
  static constexpr int most_refusals = 10;
  mutable std::atomic<int> refusals_{0};  // of tries; a success outweighs two

  mutable std::mutex m_;
  // Usually one exclusive or some shared; a lost exclusive one stays beside its successor until its
  // own unlock() comes.
  std::vector<kept_hold> kept_;
};

constexpr spi::access access_of(claim_mode m) noexcept {
  return m == claim_mode::shared ? spi::access::shared : spi::access::exclusive;
}

// Tells of an unlock() with nothing locked; answers errc::not_owner.
spi::status misused(core&, const std::string& name) noexcept;

}  // namespace afar::detail
