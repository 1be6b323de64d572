#include "engines/embedded/envelope.hpp"

#include "engines/bytes.hpp"
#include "engines/embedded/failure.hpp"
#include "engines/embedded/keys.hpp"

#include <atomic>
#include <string>

namespace afar::engines::embedded {
namespace {

// 0 format, 1 family, 2 turn, 3 zero, 4 slot bytes (u32), 8 length of the name that follows (u16; 0:
// the key is the name), 10 zeros, 16 name, slots.
constexpr std::size_t turn_at = 2;
constexpr std::size_t header_bytes = 16;
constexpr std::size_t step = 64;         // slots grow by so much
constexpr std::size_t generous = 2'048;  // larger slots are given back when nearly empty

std::size_t slot_bytes_for(std::size_t needed) noexcept {
  const std::size_t roomy =
      needed + needed / 2 + step;  // a first waiter fits without a transaction
  return (roomy + step - 1) / step * step;
}

std::string_view repeated(std::string_view name) noexcept {
  return key::fits(name) ? std::string_view{} : name;
}

[[noreturn]] void damaged(std::string_view name, const char* what) {
  throw failure{errc::damaged, "the record of '" + std::string{name} + "' " + what};
}

}  // namespace

envelope::envelope(std::span<std::byte> stored, std::string_view name) : stored_(stored) {
  byte_reader in{stored};
  const auto version = in.number<std::uint8_t>();
  const auto family = in.number<std::uint8_t>();
  const auto turn = in.number<std::uint8_t>();
  in.skip(1);
  slot_bytes_ = in.number<std::uint32_t>();
  const auto name_bytes = in.number<std::uint16_t>();
  in.skip(6);
  const std::string_view about = in.text(name_bytes);
  if (in.failed()) damaged(name, "is cut off");
  if (version != format) damaged(name, "has an unknown format");
  if (family < 1 || family > 3 || turn > 1) damaged(name, "has a header that makes no sense");
  if (about != repeated(name)) damaged(name, "is about another name");
  family_ = static_cast<embedded::family>(family);
  first_slot_ = header_bytes + name_bytes;
  if (stored.size() - first_slot_ != 2 * slot_bytes_) damaged(name, "has the wrong length");
}

unsigned envelope::turn() const noexcept { return static_cast<unsigned>(stored_[turn_at]); }

void envelope::turn_over() const noexcept {
  // One byte decides. The fence keeps the compiler from moving the slot's bytes behind it; whoever
  // looks next does so after the gate, which orders the rest.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  volatile std::byte& turn_byte = stored_[turn_at];
  turn_byte = turn_byte ^ std::byte{1};
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

bool envelope::suits(std::size_t needed) const noexcept {
  return needed <= slot_bytes_ && (slot_bytes_ <= generous || needed * 8 > slot_bytes_);
}

std::size_t envelope::size_for(std::size_t needed, std::string_view name) noexcept {
  return header_bytes + repeated(name).size() + 2 * slot_bytes_for(needed);
}

std::span<std::byte> envelope::make(std::span<std::byte> to, embedded::family family,
                                    std::size_t needed, std::string_view name) noexcept {
  const std::string_view about = repeated(name);
  byte_writer out{to.data()};
  out.number(format);
  out.number(static_cast<std::uint8_t>(family));
  out.zeros(2);
  out.number(static_cast<std::uint32_t>(slot_bytes_for(needed)));
  out.number(static_cast<std::uint16_t>(about.size()));
  out.zeros(6);
  out.text(about);
  out.zeros(2 * slot_bytes_for(needed));
  return to.subspan(header_bytes + about.size(), slot_bytes_for(needed));
}

std::string_view envelope::name_of(std::span<const std::byte> stored,
                                   std::string_view key) noexcept {
  byte_reader in{stored};
  in.skip(8);
  const auto size = in.number<std::uint16_t>();
  in.skip(6);
  const std::string_view about = in.text(size);
  return about.empty() ? key.substr(1) : about;
}

}  // namespace afar::engines::embedded
