// Records as bytes, and back. The layouts are fixed, little endian and described byte by byte in
// docs/engines/embedded.md. Decoding checks every length: what makes no sense is reported as false,
// never read out of bounds.
#pragma once

#include "engines/records/cells.hpp"
#include "engines/records/claims.hpp"
#include "engines/records/ledger.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace afar::engines::records {

// The head of a ledger, and the number under which its orders are stored.
struct ledger_record {
  std::uint64_t number = 0;
  ledger_head head;
};

// An order or a buyer, with the text of its key where the key holds only a hash of it.
struct order_record {
  std::string id;
  records::order order;
};

std::size_t encoded_size(const claims&) noexcept;
std::size_t encoded_size(const cell&) noexcept;
std::size_t encoded_size(const ledger_record&) noexcept;
std::size_t encoded_size(const order_record&) noexcept;

// `to` has at least encoded_size() bytes; what lies behind them is left as it is.
void encode(const claims&, std::byte* to) noexcept;
void encode(const cell&, std::byte* to) noexcept;
void encode(const ledger_record&, std::byte* to) noexcept;
void encode(const order_record&, std::byte* to) noexcept;

// False: damaged; the record is then unspecified. Bytes behind the record are ignored.
bool decode(std::span<const std::byte>, claims&);
bool decode(std::span<const std::byte>, cell&);
bool decode(std::span<const std::byte>, ledger_record&);
bool decode(std::span<const std::byte>, order_record&);

}  // namespace afar::engines::records
