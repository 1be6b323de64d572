// How names become shards, LMDB keys and doorbell buckets. All of it is stored or shared between
// processes of different versions, so it never changes within one format (docs/engines/embedded.md).
#pragma once

#include <afar/spi/engine.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace afar::engines::embedded {

inline constexpr std::size_t shard_count = 16;
inline constexpr std::size_t bucket_count = 1'024;

// The first byte of an LMDB key.
enum class key_kind : char {
  name = 'n',      // + name: claims, cell or the head of a ledger
  order = 'o',     // + ledger number + order id
  buyer = 'b',     // + ledger number + buyer
  deadline = 'd',  // + ledger number + time + order id
  erased = 'x'     // + ledger number: its orders, buyers and deadlines are to be collected
};

std::uint64_t hash_of(std::string_view text, std::uint64_t seed = 0) noexcept;

// An LMDB key, built on the stack. LMDB takes at most 511 bytes; what does not fit ends in a hash,
// and then the record repeats the whole text.
class key {
 public:
  static constexpr std::size_t most_text = 480;

  explicit key(key_kind k) noexcept { bytes_[size_++] = static_cast<char>(k); }
  key(key_kind k, std::string_view text) noexcept : key(k) { add_text(text); }

  key& add_number(std::uint64_t) noexcept;  // big endian: keys sort by it
  key& add_text(std::string_view) noexcept;

  bool hashed() const noexcept { return hashed_; }
  std::string_view view() const noexcept { return {bytes_, size_}; }

  // Shorter than a hashed text always is, so that the two never meet.
  static bool fits(std::string_view text) noexcept { return text.size() < most_text; }

 private:
  char bytes_[511];
  std::size_t size_ = 0;
  bool hashed_ = false;
};

// A name with everything that a step derives from it, computed once.
struct site {
  explicit site(std::string_view n) noexcept : name(n), hash(hash_of(n)) {}

  std::size_t shard() const noexcept { return hash % shard_count; }
  std::size_t bucket() const noexcept { return (hash / shard_count) % bucket_count; }
  std::size_t bucket(const spi::owner_id&) const noexcept;

  std::string_view name;
  std::uint64_t hash;
};

// Watch keys: of a name (its holders, its value) and of one claim (its turn has come).
std::string watch_key(std::string_view name);
std::string watch_key(std::string_view name, const spi::owner_id&);
std::size_t bucket_of(std::string_view watch_key) noexcept;

}  // namespace afar::engines::embedded
