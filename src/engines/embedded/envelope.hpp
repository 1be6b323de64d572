// What lies in LMDB under a name: a header and two slots of equal size, of which one is valid. A step
// that fits writes the other slot and then turns one byte, so that a process killed at any
// instruction leaves either the old or the new state, without a transaction. Everything that does
// not fit (a new name, a longer queue) is written anew in an LMDB transaction.
//
// Only inside the shard's gate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace afar::engines::embedded {

enum class family : std::uint8_t { claims = 1, cell = 2, ledger = 3 };

class envelope {
 public:
  static constexpr std::uint8_t format = 1;

  // Reads the header of a stored value. `name`: what it must be about. Throws failure
  // (errc::damaged) if it is no envelope or is about another name.
  envelope(std::span<std::byte> stored, std::string_view name);

  embedded::family family() const noexcept { return family_; }
  std::span<const std::byte> valid() const noexcept { return slot(turn()); }
  // The slot that nobody reads; write it, then turn_over().
  std::span<std::byte> spare() const noexcept { return slot(turn() ^ 1U); }
  void turn_over() const noexcept;

  // Whether a state of that size is better written in place than anew: it fits, and does not leave
  // most of a once long record empty.
  bool suits(std::size_t needed) const noexcept;

  // A new value with room to grow, about to be stored.
  static std::size_t size_for(std::size_t needed, std::string_view name) noexcept;
  // Writes the header and clears the slots; returns the slot that is valid. `to` has size_for() bytes.
  static std::span<std::byte> make(std::span<std::byte> to, embedded::family, std::size_t needed,
                                   std::string_view name) noexcept;
  // The name that a stored value is about: the key's, or the one that it repeats.
  static std::string_view name_of(std::span<const std::byte> stored, std::string_view key) noexcept;

 private:
  unsigned turn() const noexcept;
  std::span<std::byte> slot(unsigned which) const noexcept {
    return stored_.subspan(first_slot_ + which * slot_bytes_, slot_bytes_);
  }

  std::span<std::byte> stored_;
  std::size_t first_slot_ = 0;
  std::size_t slot_bytes_ = 0;
  embedded::family family_ = family::claims;
};

}  // namespace afar::engines::embedded
