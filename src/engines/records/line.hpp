// Who may hold now, who is called, and when a refused claim looks again: the part of claims.cpp
// that all its steps share.
#pragma once

#include "engines/records/claims.hpp"

#include <algorithm>

namespace afar::engines::records {

template <class List>
auto of_owner(List& list, const spi::owner_id& owner) {
  return std::ranges::find_if(list, [&](const auto& x) { return x.owner == owner; });
}

// A claim of another session, which may have died.
inline bool foreign(session_id s, const moment& m) { return m.alive && s != 0 && s != m.session; }

template <class T>
bool over(const T& x, const moment& m) {
  return x.until <= m.now || (foreign(x.session, m) && !(*m.alive)(x.session));
}

// Writes down that a hold is over; the caller removes it.
void remember(claims&, const holder&, spi::loss why, time_point when);

// Gives a holder the next token, and as many more for local hand-off.
void new_token(claims&, holder&, std::uint32_t handoffs, const moment&);

// Begins every step: removes what is over or dead.
void clean(claims&, const moment&, effects&);

// Ends every step: calls whoever may hold now, and dates an idle record.
void settle(claims&, const moment&, effects&);

// Whether a claim that stands at `place` in the line (its end: a newcomer) may hold now.
bool may_hold(const claims&, const spi::claim&, std::vector<place>::const_iterator place,
              const moment&);

// When a claim that was refused just now should look again, wake or no wake.
milliseconds retry_after(const claims&, const spi::claim&, const moment&);

}  // namespace afar::engines::records
