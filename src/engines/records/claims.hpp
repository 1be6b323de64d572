// What the in-process engines (memory, embedded) store for a name that is claimed, and the atomic
// steps on it, as plain functions over a value: no storage, no clock, no lock. The engine loads the
// record, applies one step and stores it again; so both engines grant by the same rules.
//
// Rules
//   1. One queue for all kinds. A refused claim that may queue stands in `line`, first come first
//      served; what differs between kinds is one predicate: may this claim hold now?
//   2. The next in line is called (its wake is returned) when it may hold. If it does not come
//      within `patience` (it is stopped, or slow), later claims may pass it, except for fair_mutex.
//   3. Holders whose lease is over and claimants whose session is dead are removed by whoever looks.
//   4. A token is max(last + 1, microseconds of the engine's calendar clock).
//   5. Where moment::grants, a place says what its claim wants, and whoever frees the name makes the
//      next in line a holder instead of calling it. Nobody has confirmed such a hold yet, so it lasts
//      no longer than the place of a silent waiter: who has died costs no more than that. Who asks,
//      or renews, has the whole lease.
#pragma once

#include <afar/spi/engine.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace afar::engines::records {

using spi::milliseconds;
using spi::time_point;

// Who could still act for a claim: a process (embedded), or 0 for "this one, always alive" (memory).
using session_id = std::uint64_t;
using alive_test = std::function<bool(session_id)>;

struct holder {
  spi::owner_id owner;
  session_id session = 0;
  spi::access mode = spi::access::exclusive;
  std::uint32_t permits = 1;
  std::uint64_t token = 0;
  std::uint64_t last_token = 0;  // end of the block reserved for local hand-off
  time_point since{};
  time_point until{};
  std::string note;
  time_point renewed{};  // or granted: its lease is until - renewed
  std::uint32_t renewals = 0;
};

struct place {
  spi::owner_id owner;
  session_id session = 0;
  spi::access mode = spi::access::exclusive;
  std::uint32_t permits = 1;
  time_point since{};
  time_point until{};   // a silent waiter keeps its place so long
  time_point called{};  // when it was told that it may hold; epoch: not yet; 1 ns: did not come
  std::string note;
  milliseconds lease{};        // what it wants to hold it for (rule 5); 0: it is called
  std::uint32_t handoffs = 0;  // and tokens more
};

// Left behind by an eviction, so that the victim's renewal can say why.
struct eviction {
  spi::owner_id owner;
  time_point until{};
};

// A barrier that was tripped or broken: the answer for a claim of that generation. Kept when it was
// given, until it expires or is released: the answer may be lost, and the claim asks again.
struct verdict {
  spi::owner_id owner;
  bool broken = false;
  std::uint64_t token = 0;
  time_point until{};
};

// A hold that is over, for people who look. Plain numbers, and few of them: every step carries them.
struct past_hold {
  session_id session = 0;
  std::uint64_t token = 0;
  time_point since{};
  time_point until{};  // when it was over
  spi::loss why = spi::loss::none;
};
inline constexpr std::size_t most_past_holds = 3;

struct claims {
  spi::kind kind = spi::kind::mutex;
  std::uint32_t limit = 1;
  std::uint64_t last_token = 0;
  // Nobody holds or waits: the record is only a token floor. Lies in the future by as much as the
  // tokens ran ahead of the calendar.
  time_point idle_since{};
  std::vector<holder> holders;
  std::vector<place> line;
  std::vector<eviction> evictions;
  std::vector<verdict> verdicts;
  std::array<past_hold, most_past_holds> history{};  // newest first
  std::uint32_t past_holds = 0;

  bool idle() const noexcept {
    return holders.empty() && line.empty() && evictions.empty() && verdicts.empty();
  }
};

// The circumstances of a step, the same for every function below.
struct moment {
  time_point now{};
  std::uint64_t calendar_us = 0;  // floor of new tokens
  session_id session = 0;         // of the caller
  milliseconds waiter_lease{5'000};
  milliseconds patience{50};  // how long a called waiter is waited for
  milliseconds recheck{20};   // look again so soon when a claim of another session is in the way
  const alive_test* alive = nullptr;  // null: everybody lives
  bool grants = false;                // see rule 5
};

// A claim of the line that was made a holder.
struct direct_grant {
  spi::owner_id owner;
  session_id session = 0;
  std::uint64_t token = 0;
  std::uint64_t last_token = 0;
  milliseconds lease{};
};

struct effects {
  std::vector<spi::owner_id> call;   // claims that may hold now: wake their keys
  std::vector<direct_grant> grants;  // those of them that do
  bool changed = false;              // the record must be stored
  bool holders_changed = false;      // holders or a holder's note: wake the name's own key
};

// How long an idle record is kept as a token floor before it is collected.
inline constexpr milliseconds floor_life{10'000};

// The record of a name that has none yet. `limit` and kind are checked by every later use while
// somebody holds or waits; else the record takes the kind and limit of its next user. A mutex and a
// shared_mutex meet: a mutex is a shared_mutex that nobody shares.
claims fresh_claims(const spi::claim&);

// Fails with errc::wrong_use (and says what the name is), errc::broken (barrier); else reply says
// granted or refused. A refused reply has no watch_key: the engine adds the claim's own key.
spi::status acquire(claims&, const spi::claim&, const moment&, spi::acquire_reply&, effects&);
spi::renew_reply renew(claims&, const spi::claim&, const moment&, effects&);
spi::release_reply release(claims&, const spi::owner_id&, const moment&, effects&);
spi::release_reply evict(claims&, const spi::owner_id&, std::uint64_t token, const moment&,
                         effects&);

// Removes what is over or dead (rule 3) and calls whoever may now hold. Every step above begins so.
void sweep(claims&, const moment&, effects&);

spi::entry describe(const claims&, std::string name, const moment&);

// A record that is idle for longer than floor_life holds nothing that anybody needs.
bool collectable(const claims&, time_point now);

}  // namespace afar::engines::records
