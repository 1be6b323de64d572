#include "engines/embedded/ledger_book.hpp"

#include "engines/bytes.hpp"
#include "engines/embedded/failure.hpp"
#include "engines/embedded/stored.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace afar::engines::embedded {
namespace {

constexpr std::size_t deadline_prefix = 1 + 8 + 8;  // kind, ledger, time

[[noreturn]] void damaged(std::string_view name, const char* what) {
  throw failure{errc::damaged, "the stock '" + std::string{name} + "' has " + what};
}

// A transaction reads only, but the envelope is made for writing in place too.
std::span<std::byte> writable(std::span<const std::byte> bytes) noexcept {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

std::uint64_t time_number(spi::time_point t) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(t.time_since_epoch().count(), 0));
}

std::string_view beyond_key(const key& k, std::string_view text) noexcept {
  return k.hashed() ? text : std::string_view{};
}

}  // namespace

ledger_book::ledger_book(environment& env, std::string_view name, std::uint64_t now_us)
    : change_(env), name_(name), key_(key_kind::name, name), now_us_(now_us) {}

key ledger_book::page(key_kind kind) const noexcept {
  key k{kind};
  k.add_number(number_);
  return k;
}

key ledger_book::page(key_kind kind, std::string_view text) const noexcept {
  key k = page(kind);
  k.add_text(text);
  return k;
}

key ledger_book::deadline(spi::time_point at, std::string_view id) const noexcept {
  key k = page(key_kind::deadline);
  k.add_number(time_number(at)).add_text(id);
  return k;
}

// ---- head -------------------------------------------------------------------------------------

std::optional<records::ledger_head> ledger_book::head() {
  const auto value = change_.find(key_.view());
  if (!value) return std::nullopt;
  const envelope where{writable(*value), name_};
  if (where.family() != family::ledger) {
    check_replaceable(where, name_, spi::kind::stock, now_us_);
    return std::nullopt;
  }
  ledger_record record;
  decode_or_fail(where, name_, record);
  if (record.number == 0) damaged(name_, "no number");
  number_ = record.number;
  return std::move(record.head);
}

// Not the number of an erased ledger whose orders are still being collected.
std::uint64_t ledger_book::free_number(std::uint64_t from) {
  for (;; ++from) {
    number_ = from;
    const auto used = [&](key_kind kind) {
      const key k = page(kind);
      const auto next = change_.first_key_from(k.view());
      return next && next->starts_with(k.view());
    };
    if (!used(key_kind::order) && !used(key_kind::erased) && !used(key_kind::buyer) &&
        !used(key_kind::deadline))
      return from;
  }
}

void ledger_book::put_head(const records::ledger_head& head) {
  if (number_ == 0) number_ = free_number(now_us_);
  put_record(change_, key_, name_, ledger_record{number_, head});
  changed_ = true;
}

void ledger_book::erase_all() {
  if (number_ == 0) return;
  change_.erase(key_.view());
  change_.put(page(key_kind::erased).view(), 1)[0] = std::byte{1};
  number_ = 0;
  changed_ = true;
}

// ---- orders -----------------------------------------------------------------------------------

std::optional<records::order> ledger_book::find(std::string_view id) {
  const key k = page(key_kind::order, id);
  const auto value = change_.find(k.view());
  if (!value) return std::nullopt;
  order_record record;
  if (!decode(*value, record)) damaged(name_, "an order that makes no sense");
  if (record.id != beyond_key(k, id)) damaged(name_, "two orders under one key");
  return std::move(record.order);
}

void ledger_book::put(std::string_view id, const records::order& order) {
  // A new stock gets its number before its first order.
  const key k = page(key_kind::order, id);
  const order_record record{std::string{beyond_key(k, id)}, order};
  encode(record, change_.put(k.view(), encoded_size(record)).data());
  changed_ = true;
}

// ---- buyers: units (i64), then the buyer where the key is hashed ----------------------------------

std::int64_t ledger_book::units_of(std::string_view buyer) {
  const key k = page(key_kind::buyer, buyer);
  const auto value = change_.find(k.view());
  if (!value) return 0;
  byte_reader in{*value};
  const auto units = in.number<std::int64_t>();
  const auto text = in.text(beyond_key(k, buyer).size());
  if (in.failed() || text != beyond_key(k, buyer)) damaged(name_, "a buyer that makes no sense");
  return units;
}

void ledger_book::put_units(std::string_view buyer, std::int64_t units) {
  const key k = page(key_kind::buyer, buyer);
  changed_ = true;
  if (units == 0) return change_.erase(k.view());
  const std::string_view beyond = beyond_key(k, buyer);
  byte_writer out{change_.put(k.view(), sizeof units + beyond.size()).data()};
  out.number(units);
  out.text(beyond);
}

// ---- deadlines: one byte, then the order where the key is hashed ----------------------------------

void ledger_book::put_deadline(spi::time_point at, std::string_view id) {
  const key k = deadline(at, id);
  const std::string_view beyond = beyond_key(k, id);
  byte_writer out{change_.put(k.view(), 1 + beyond.size()).data()};
  out.number(std::uint8_t{1});
  out.text(beyond);
  changed_ = true;
}

void ledger_book::erase_deadline(spi::time_point at, std::string_view id) {
  change_.erase(deadline(at, id).view());
  changed_ = true;
}

std::optional<std::pair<spi::time_point, std::string>> ledger_book::first_deadline() {
  const key prefix = page(key_kind::deadline);
  const auto found = change_.first_key_from(prefix.view());
  if (!found || !found->starts_with(prefix.view())) return std::nullopt;
  if (found->size() < deadline_prefix) damaged(name_, "a deadline that makes no sense");
  std::uint64_t at = 0;
  for (const char c : found->substr(prefix.view().size(), 8))
    at = at << 8U | static_cast<unsigned char>(c);
  const auto value = change_.find(*found);
  const std::string_view id =
      value && value->size() > 1
          ? std::string_view{reinterpret_cast<const char*>(value->data()) + 1, value->size() - 1}
          : found->substr(deadline_prefix);
  return std::pair{spi::time_point{spi::time_point::duration{static_cast<std::int64_t>(at)}},
                   std::string{id}};
}

}  // namespace afar::engines::embedded
