// The record of one name, loaded from a shard and saved again: in place where it fits, else in a
// transaction. Only inside the gate.
#pragma once

#include "engines/embedded/envelope.hpp"
#include "engines/embedded/environment.hpp"
#include "engines/embedded/keys.hpp"
#include "engines/records/cells.hpp"
#include "engines/records/claims.hpp"
#include "engines/records/codec.hpp"

#include <afar/spi/engine.hpp>

#include <optional>
#include <string_view>

namespace afar::engines::embedded {

using records::ledger_record;
using records::order_record;

template <class Record>
constexpr family family_of = family::claims;
template <>
inline constexpr family family_of<records::cell> = family::cell;
template <>
inline constexpr family family_of<ledger_record> = family::ledger;

// Throws failure: errc::damaged.
template <class Record>
void decode_or_fail(const envelope&, std::string_view name, Record& into);

// Throws failure (errc::wrong_use) if the name is in use as something else than `wanted`.
void check_replaceable(const envelope&, std::string_view name, spi::kind wanted,
                       std::uint64_t now_us);

// Writes a new record of a name in a transaction.
template <class Record>
void put_record(environment::transaction&, const key&, std::string_view name, const Record&);

template <class Record>
class stored {
 public:
  // Loads the name's record into `record`, which becomes an empty one if there is none. Throws
  // failure.
  stored(environment&, std::string_view name, spi::kind wanted, std::uint64_t now_us,
         Record& record);

  bool exists() const noexcept { return exists_; }
  // `before_valid` runs when all is written and nothing yet valid (fault points).
  template <class BeforeValid>
  void save(const Record& record, BeforeValid&& before_valid) {
    const std::size_t size = encoded_size(record);
    if (exists_ && in_place() && where_->suits(size)) {
      encode(record, where_->spare().data());
      before_valid();
      where_->turn_over();
      return;
    }
    environment::transaction change{env_};
    put_record(change, key_, name_, record);
    before_valid();
    change.commit();
  }

 private:
  // Claims need not survive a power cut, so they need no sync either.
  bool in_place() const noexcept { return !env_.durable() || family_of<Record> == family::claims; }

  environment& env_;
  const std::string_view name_;
  const key key_;
  environment::view view_;
  std::optional<envelope> where_;
  bool exists_ = false;
};

}  // namespace afar::engines::embedded
