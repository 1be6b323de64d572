// The row of one name: loaded, changed by the rules in engines/records, and stored again if nobody
// else has changed it meanwhile. Nothing is locked between the two, so a client that stops there
// stops nobody.
//
// A row is `plain` if the columns are the whole truth: nobody, or one exclusive holder without a line
// behind it. It is `joined` if `record` has those who have come to wait for that holder since. Else
// `record` has it all, and the columns show the holder to people who read the table.
#pragma once

#include "engines/records/cells.hpp"
#include "engines/records/claims.hpp"
#include "engines/records/codec.hpp"
#include "engines/records/wrong_use.hpp"
#include "engines/sql/connection.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace afar::engines::sql {

inline constexpr spi::milliseconds waiter_lease{5'000};
inline constexpr std::int64_t floor_us = 60'000'000;  // idle rows are token floors for so long

// The column `plain`.
enum class shape : std::uint8_t { recorded, plain, joined };

struct row {
  bool exists = false;
  std::int64_t now_us = 0;  // when it was read
  std::int64_t version = 0;
  std::int64_t watched_us = 0;

  std::int64_t kind = 0;   // 0: nothing, or only a floor for tokens
  std::int64_t rings = 0;  // grows when there is something for those who wait
  shape form = shape::plain;
  std::string owner = {};
  std::int64_t since_us = 0, renewed_us = 0, until_us = 0, renewals = 0;
  std::int64_t token = 0, last_token = 0;
  std::string note = {};
  std::string called = {};  // the one claim for which the last ring was; empty: for all
  std::optional<std::int64_t> value = {};
  std::string record = {};

  bool watched() const noexcept { return watched_us > now_us; }
};

// The server's clock as the records have it.
spi::time_point at_us(std::int64_t) noexcept;
std::int64_t us_of(spi::time_point) noexcept;
std::int64_t us_of(spi::milliseconds lease) noexcept;

row load(connection&, std::string_view name);
// `fields`: what `load` or `page` answered, behind the name.
row read_row(std::span<const field> fields);

// False: somebody else was faster, or it is later than `end` by the server's clock. Rings the bells once
// it is stored.
bool store(connection&, std::string_view name, const row& before, const row& after,
           std::int64_t end_us, std::span<const bell_call> calls);

// Throw failure(errc::damaged) if the record makes no sense.
records::claims claims_of(const row&);
void put_claims(row&, const records::claims&);
// A claim that comes to wait, as statement::join has it: the server writes the time before it.
std::string arrival_of(const spi::claim&, std::uint64_t bell);
records::cell cell_of(const row&);
void put_cell(row&, const records::cell&);
records::ledger_record ledger_of(const row&);
void put_ledger(row&, const records::ledger_head&);
void clear(row&);  // nothing but the floor for tokens

// What the name is in use as; nullopt: nothing.
std::optional<records::usage> used_as(const row&);

// By the number of the client and of the claim.
spi::owner_id owner_of(std::string_view text) noexcept;

}  // namespace afar::engines::sql
