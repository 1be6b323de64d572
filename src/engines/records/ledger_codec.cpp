#include "engines/bytes.hpp"
#include "engines/records/codec.hpp"

namespace afar::engines::records {
namespace {

constexpr std::size_t head_bytes = 64;
constexpr std::size_t restock_bytes = 32;
constexpr std::size_t order_bytes = 24;

enum : std::uint8_t { has_opens = 1, has_closes = 2 };

void put(byte_writer& out, const std::optional<spi::calendar_time>& t) noexcept {
  out.number(static_cast<std::int64_t>(t ? t->time_since_epoch().count() : 0));
}

std::optional<spi::calendar_time> get_calendar(byte_reader& in, bool there) noexcept {
  const auto ms = in.number<std::int64_t>();
  if (!there) return {};
  return spi::calendar_time{spi::milliseconds{ms}};
}

}  // namespace

std::size_t encoded_size(const ledger_record& r) noexcept {
  return head_bytes + r.head.restocks.size() * restock_bytes;
}

void encode(const ledger_record& r, std::byte* to) noexcept {
  const spi::window& open = r.head.open;
  byte_writer out{to};
  out.number(static_cast<std::uint8_t>(spi::kind::stock));
  out.number(
      static_cast<std::uint8_t>((open.opens ? has_opens : 0) | (open.closes ? has_closes : 0)));
  out.zeros(2);
  out.number(r.head.per_buyer);
  out.number(r.number);
  out.number(r.head.remaining);
  out.number(r.head.reserved);
  out.number(r.head.taken);
  put(out, open.opens);
  put(out, open.closes);
  out.number(static_cast<std::uint32_t>(r.head.restocks.size()));
  out.zeros(4);
  for (const auto& [op, after] : r.head.restocks) {
    out.number(op.client_high);
    out.number(op.client_low);
    out.number(op.number);
    out.number(after);
  }
}

bool decode(std::span<const std::byte> from, ledger_record& r) {
  byte_reader in{from};
  if (in.number<std::uint8_t>() != static_cast<std::uint8_t>(spi::kind::stock)) in.fail();
  const auto window = in.number<std::uint8_t>();
  in.skip(2);
  r.head.per_buyer = in.number<std::uint32_t>();
  r.number = in.number<std::uint64_t>();
  r.head.remaining = in.number<std::int64_t>();
  r.head.reserved = in.number<std::int64_t>();
  r.head.taken = in.number<std::int64_t>();
  r.head.open.opens = get_calendar(in, (window & has_opens) != 0);
  r.head.open.closes = get_calendar(in, (window & has_closes) != 0);
  const auto restocks = in.number<std::uint32_t>();
  in.skip(4);
  r.head.restocks.clear();
  if (!in.can_hold(restocks, restock_bytes)) return false;
  r.head.restocks.resize(restocks);
  for (auto& [op, after] : r.head.restocks) {
    op.client_high = in.number<std::uint64_t>();
    op.client_low = in.number<std::uint64_t>();
    op.number = in.number<std::uint64_t>();
    after = in.number<std::int64_t>();
  }
  return !in.failed();
}

std::size_t encoded_size(const order_record& r) noexcept {
  return order_bytes + r.order.buyer.size() + r.id.size();
}

void encode(const order_record& r, std::byte* to) noexcept {
  byte_writer out{to};
  out.number(std::uint8_t{1});
  out.number(static_cast<std::uint8_t>(r.order.state));
  out.zeros(2);
  out.number(static_cast<std::uint16_t>(r.order.buyer.size()));
  out.number(static_cast<std::uint16_t>(r.id.size()));
  out.number(r.order.amount);
  out.number(static_cast<std::int64_t>(r.order.expires.time_since_epoch().count()));
  out.text(r.order.buyer);
  out.text(r.id);
}

bool decode(std::span<const std::byte> from, order_record& r) {
  byte_reader in{from};
  const auto version = in.number<std::uint8_t>();
  const auto state = in.number<std::uint8_t>();
  in.skip(2);
  if (version != 1 || state > static_cast<std::uint8_t>(order_state::expired)) in.fail();
  const auto buyer = in.number<std::uint16_t>();
  const auto id = in.number<std::uint16_t>();
  r.order.state = static_cast<order_state>(state);
  r.order.amount = in.number<std::int64_t>();
  r.order.expires = spi::time_point{spi::time_point::duration{in.number<std::int64_t>()}};
  r.order.buyer = in.text(buyer);
  r.id = in.text(id);
  return !in.failed();
}

}  // namespace afar::engines::records
