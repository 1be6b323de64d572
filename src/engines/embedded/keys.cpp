#include "engines/embedded/keys.hpp"

#include "engines/bytes.hpp"

#include <cstring>

namespace afar::engines::embedded {
namespace {

constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;

constexpr std::uint64_t mix(std::uint64_t h) noexcept {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93;
  return h ^ (h >> 32);
}

constexpr std::uint64_t join(std::uint64_t h, std::uint64_t word) noexcept {
  h = (h ^ word) * odd;
  return h ^ (h >> 29);
}

constexpr std::size_t owner_bytes = 24;

std::uint64_t owner_hash(const spi::owner_id& o) noexcept {
  return mix(join(join(join(1, o.client_high), o.client_low), o.number));
}

}  // namespace

std::uint64_t hash_of(std::string_view text, std::uint64_t seed) noexcept {
  std::uint64_t h = join(seed, text.size());
  while (text.size() >= 8) {
    h = join(h, load<std::uint64_t>(text.data()));
    text.remove_prefix(8);
  }
  if (!text.empty()) {
    char rest[8] = {};
    std::memcpy(rest, text.data(), text.size());
    h = join(h, load<std::uint64_t>(rest));
  }
  return mix(h);
}

key& key::add_number(std::uint64_t n) noexcept {
  for (int shift = 56; shift >= 0; shift -= 8) bytes_[size_++] = static_cast<char>(n >> shift);
  return *this;
}

key& key::add_text(std::string_view text) noexcept {
  hashed_ = !fits(text);
  const std::string_view plain = hashed_ ? text.substr(0, most_text - 16) : text;
  // Not memcpy: GCC makes `rep movs` of it, which takes longer to start than a name to copy.
  if (!plain.empty()) std::memmove(bytes_ + size_, plain.data(), plain.size());
  size_ += plain.size();
  if (hashed_) add_number(hash_of(text, 1)).add_number(hash_of(text, 2));
  return *this;
}

std::size_t site::bucket(const spi::owner_id& owner) const noexcept {
  return mix(hash ^ owner_hash(owner)) % bucket_count;
}

std::string watch_key(std::string_view name) {
  std::string out;
  out.reserve(1 + name.size());
  out += 'n';
  out += name;
  return out;
}

std::string watch_key(std::string_view name, const spi::owner_id& owner) {
  std::string out(1 + owner_bytes, 'c');
  store(out.data() + 1, owner.client_high);
  store(out.data() + 9, owner.client_low);
  store(out.data() + 17, owner.number);
  out += name;
  return out;
}

std::size_t bucket_of(std::string_view key) noexcept {
  if (key.empty() || key[0] != 'c' || key.size() < 1 + owner_bytes)
    return site{key.substr(key.empty() ? 0 : 1)}.bucket();
  const spi::owner_id owner{load<std::uint64_t>(key.data() + 1),
                            load<std::uint64_t>(key.data() + 9),
                            load<std::uint64_t>(key.data() + 17)};
  return site{key.substr(1 + owner_bytes)}.bucket(owner);
}

}  // namespace afar::engines::embedded
