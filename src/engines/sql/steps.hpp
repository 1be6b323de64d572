// The engine's steps, as they run on a lane: they block, and throw failure.
#pragma once

#include "engines/sql/connection.hpp"
#include "engines/sql/listener.hpp"
#include "engines/sql/row.hpp"

#include <afar/spi/engine.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>

namespace afar::engines::sql {

// What a step has at hand.
struct desk {
  connection& on;
  listener& ear;
  spi::time_point by;
};

// When a step is over for good, by the server's clock: its connection is cut then.
inline std::int64_t end_of(const desk& d) noexcept {
  using namespace std::chrono_literals;
  return d.on.server_us(std::min(d.by, boot_clock::now() + 1h) + overdue_after);
}

spi::status acquire(const desk&, spi::claim&, spi::acquire_reply&);
spi::status release(const desk&, const spi::claim&, spi::release_reply&);

// The statement that these begin with, if it is mostly the only one; and sends it ahead of them.
std::optional<statement> opening_of_acquire(const spi::claim&) noexcept;
std::optional<statement> opening_of_release(const spi::claim&) noexcept;
sent send_opening_of_acquire(const desk&, const spi::claim&);
sent send_opening_of_release(const desk&, const spi::claim&);

spi::status evict(const desk&, const spi::resource&, const spi::owner_id&, std::uint64_t token,
                  spi::release_reply&);
void renew(const desk&, std::span<spi::claim* const>, std::span<spi::renew_reply>);

spi::status change(const desk&, const spi::cell_change&, spi::cell_reply&);
spi::status record(const desk&, const spi::ledger_change&, spi::ledger_reply&);
spi::status survey(const desk&, const spi::survey_query&, spi::survey_reply&);
std::uint64_t collect(const desk&);
std::vector<finding> examine(const desk&);

// Says on the server that this client watches the name, and for how long; how often it has rung.
std::int64_t watch_name(const desk&, std::string_view name);

// errc::bad_argument for what the tables have no room for.
spi::status check_name(std::string_view name);

}  // namespace afar::engines::sql
