#include "engines/bytes.hpp"
#include "engines/embedded/envelope.hpp"
#include "engines/embedded/failure.hpp"
#include "engines/embedded/keys.hpp"
#include "engines/records/codec.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace afar::engines::embedded {
namespace {

using namespace records;
using bytes = std::vector<std::byte>;
using spi::time_point;
using std::chrono::nanoseconds;

time_point at(std::int64_t n) { return time_point{nanoseconds{n}}; }

template <class Record>
bytes encoded(const Record& r) {
  bytes out(encoded_size(r));
  encode(r, out.data());
  return out;
}

records::claims some_claims() {
  records::claims c;
  c.kind = spi::kind::shared_mutex;
  c.limit = 3;
  c.last_token = 1'700'000'000'000'000;
  c.idle_since = at(5);
  c.holders.push_back(
      {{1, 2, 3}, 4, spi::access::shared, 2, 77, 80, at(6), at(7), "a note", at(14), 15});
  c.holders.push_back({{9, 8, 7}, 6, spi::access::exclusive, 1, 81, 81, at(-1), at(9), ""});
  c.line.push_back({{4, 5, 6}, 7, spi::access::exclusive, 1, at(1), at(2), at(3), "waits"});
  c.evictions.push_back({{7, 7, 7}, at(8)});
  c.verdicts.push_back({{8, 8, 8}, true, 99, at(10)});
  c.history[0] = {21, 70, at(16), at(17), spi::loss::evicted};
  c.history[1] = {22, 69, at(18), at(19), spi::loss::none};
  c.past_holds = 2;
  return c;
}

records::cell some_cell() {
  records::cell c;
  c.kind = spi::kind::latch;
  c.exists = true;
  c.value = -5;
  c.changed_at = at(11);
  c.results.push_back({{1, 2, 3}, true, false, 7, 6, at(12)});
  return c;
}

ledger_record some_ledger() {
  ledger_record r{77, {}};
  r.head.remaining = 10;
  r.head.reserved = 2;
  r.head.taken = 3;
  r.head.per_buyer = 1;
  r.head.open.closes = spi::calendar_time{spi::milliseconds{123}};
  r.head.restocks.push_back({{3, 2, 1}, 10});
  return r;
}

order_record some_order() { return {"id", {"buyer", 4, records::order_state::reserved, at(13)}}; }

// Field by field through a second encoding: equal bytes are equal records.
template <class Record>
void expect_round_trip(const Record& r) {
  const bytes once = encoded(r);
  Record back;
  ASSERT_TRUE(decode(once, back));
  EXPECT_EQ(encoded(back), once);
  bytes longer = once;
  longer.resize(once.size() + 40, std::byte{0xff});
  EXPECT_TRUE(decode(longer, back)) << "what lies behind a record does not matter";
}

template <class Record>
void expect_cut_off_is_damaged(const Record& r) {
  const bytes whole = encoded(r);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Record back;
    const bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(decode(part, back)) << size;
  }
}

// Any answer is right as long as nothing is read out of bounds (AddressSanitizer looks).
template <class Record>
void expect_garbage_is_harmless(const Record& r) {
  std::mt19937 random{1};
  const bytes good = encoded(r);
  for (int i = 0; i < 20'000; ++i) {
    bytes bad = good;
    for (int flips = 1 + i % 4; flips > 0; --flips)
      bad[random() % bad.size()] = static_cast<std::byte>(random());
    Record back;
    if (decode(bad, back)) {
      EXPECT_LE(encoded_size(back), bad.size() + 65'536);
    }
  }
}

template <class Record>
void expect_sound(const Record& r) {
  expect_round_trip(r);
  expect_cut_off_is_damaged(r);
  expect_garbage_is_harmless(r);
}

// Where a place said what it wants, and where lists were longer.
TEST(embedded_codec, reads_into_a_used_record_as_into_a_new_one) {
  records::claims used = some_claims();
  used.past_holds = most_past_holds;
  used.line.insert(used.line.end(), 5, used.line.front());
  for (place& p : used.line) {
    p.note = std::string(100, 'x');
    p.lease = spi::milliseconds{9};
    p.handoffs = 3;
  }
  const bytes before = encoded(some_claims());
  ASSERT_TRUE(decode(before, used));
  EXPECT_EQ(encoded(used), before);
  EXPECT_EQ(used.line.front().lease.count(), 0);
  EXPECT_EQ(used.line.front().handoffs, 0U);
  const bytes empty = encoded(records::claims{});
  ASSERT_TRUE(decode(empty, used));
  EXPECT_EQ(encoded(used), empty);
  EXPECT_TRUE(used.idle());
}

TEST(embedded_codec, reads_the_notes_of_a_line_over_others_of_any_length) {
  records::claims used;
  for (const char* const note :
       {"waits", "other", "", "a longer one than fits into a short string"}) {
    records::claims c = some_claims();
    c.line.front().note = note;
    ASSERT_TRUE(decode(encoded(c), used));
    EXPECT_EQ(used.line.front().note, note);
    EXPECT_EQ(encoded(used), encoded(c));
  }
}

TEST(embedded_codec, reports_a_place_in_no_mode) {
  bytes bad = encoded(some_claims());
  records::claims back;
  ASSERT_TRUE(decode(bad, back));
  const std::size_t place_at =
      48 + (84 + 6) + 84;  // behind the head and two holders, one with a note
  ASSERT_EQ(load<std::uint64_t>(bad.data() + place_at + 16), 6U) << "its owner's number";
  bad[place_at + 60] = std::byte{2};
  EXPECT_FALSE(decode(bad, back));
}

TEST(embedded_codec, keeps_claims) { expect_sound(some_claims()); }
TEST(embedded_codec, keeps_what_places_want) {
  records::claims c = some_claims();
  const bytes without = encoded(c);
  c.line.push_back({{4, 5, 7}, 7, spi::access::exclusive, 1, at(1), at(2), at(3), "too"});
  c.line.back().lease = spi::milliseconds{30'000};
  c.line.back().handoffs = 16;
  expect_sound(c);
  records::claims back;
  ASSERT_TRUE(decode(encoded(c), back));
  EXPECT_EQ(back.line.at(0).lease.count(), 0);
  EXPECT_EQ(back.line.at(1).lease.count(), 30'000);
  EXPECT_EQ(back.line.at(1).handoffs, 16U);
  // Who wants nothing costs nothing: the bytes are those of a version that knew of no wishes.
  c.line.pop_back();
  EXPECT_EQ(encoded(c), without);
}
TEST(embedded_codec, keeps_cells) { expect_sound(some_cell()); }
TEST(embedded_codec, keeps_ledgers) { expect_sound(some_ledger()); }
TEST(embedded_codec, keeps_orders) { expect_sound(some_order()); }

TEST(embedded_codec, keeps_every_field_of_a_holder) {
  records::claims back;
  ASSERT_TRUE(decode(encoded(some_claims()), back));
  const records::holder& h = back.holders.at(0);
  EXPECT_EQ(h.owner, (spi::owner_id{1, 2, 3}));
  EXPECT_EQ(h.session, 4U);
  EXPECT_EQ(h.mode, spi::access::shared);
  EXPECT_EQ(h.permits, 2U);
  EXPECT_EQ(h.token, 77U);
  EXPECT_EQ(h.last_token, 80U);
  EXPECT_EQ(h.since, at(6));
  EXPECT_EQ(h.until, at(7));
  EXPECT_EQ(h.note, "a note");
  EXPECT_EQ(h.renewed, at(14));
  EXPECT_EQ(h.renewals, 15U);
  EXPECT_EQ(back.line.at(0).called, at(3));
  EXPECT_TRUE(back.verdicts.at(0).broken);
  ASSERT_EQ(back.past_holds, 2U);
  EXPECT_EQ(back.history[0].session, 21U);
  EXPECT_EQ(back.history[0].token, 70U);
  EXPECT_EQ(back.history[0].since, at(16));
  EXPECT_EQ(back.history[0].until, at(17));
  EXPECT_EQ(back.history[0].why, spi::loss::evicted);
  EXPECT_EQ(back.history[1].session, 22U);
}

// The layout is a promise: a folder outlives the version that wrote it.
TEST(embedded_codec, writes_the_documented_bytes) {
  const bytes claims = encoded(some_claims());
  EXPECT_EQ(claims.size(), 48 + (84 + 6) + 84 + (64 + 5) + 32 + 48 + 2 * 40U);
  EXPECT_EQ(load<std::uint8_t>(&claims[0]), 3);
  EXPECT_EQ(load<std::uint32_t>(&claims[4]), 3U);
  EXPECT_EQ(load<std::uint32_t>(&claims[8]), 2U);
  EXPECT_EQ(load<std::uint32_t>(&claims[24]), 2U);
  EXPECT_EQ(load<std::uint64_t>(&claims[32]), 1'700'000'000'000'000U);
  EXPECT_EQ(load<std::uint64_t>(&claims[48]), 1U);
  EXPECT_EQ(encoded(some_cell()).size(), 32 + 56U);
  EXPECT_EQ(encoded(some_ledger()).size(), 64 + 32U);
  EXPECT_EQ(encoded(some_order()).size(), 24 + 5 + 2U);
}

// ---- envelopes --------------------------------------------------------------------------------

bytes enveloped(std::string_view name, std::size_t needed) {
  bytes out(envelope::size_for(needed, name));
  envelope::make(out, family::cell, needed, name);
  return out;
}

TEST(embedded_envelope, turns_from_one_slot_to_the_other) {
  bytes stored = enveloped("x", 100);
  const envelope e{stored, "x"};
  EXPECT_EQ(e.family(), family::cell);
  EXPECT_GE(e.valid().size(), 100U);
  EXPECT_NE(e.valid().data(), e.spare().data());
  e.spare()[0] = std::byte{42};
  EXPECT_EQ(e.valid()[0], std::byte{0}) << "not valid before it is turned over";
  e.turn_over();
  EXPECT_EQ((envelope{stored, "x"}.valid()[0]), std::byte{42});
}

TEST(embedded_envelope, has_room_for_a_first_waiter_but_does_not_stay_large_for_ever) {
  bytes small = enveloped("x", 200);
  EXPECT_TRUE((envelope{small, "x"}.suits(300)));
  bytes large = enveloped("x", 50'000);
  EXPECT_TRUE((envelope{large, "x"}.suits(40'000)));
  EXPECT_FALSE((envelope{large, "x"}.suits(200)));
}

TEST(embedded_envelope, repeats_a_name_that_is_longer_than_a_key) {
  const std::string name(1'024, 'x');
  bytes stored = enveloped(name, 10);
  EXPECT_NO_THROW((envelope{stored, name}));
  EXPECT_EQ(envelope::name_of(stored, "n..."), name);
  EXPECT_THROW((envelope{stored, std::string(1'023, 'x')}), failure);
}

TEST(embedded_envelope, that_makes_no_sense_is_damaged) {
  const bytes good = enveloped("x", 100);
  std::mt19937 random{2};
  for (std::size_t size = 0; size < good.size(); ++size) {
    bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW((envelope{cut, "x"}), failure);
  }
  for (const std::size_t where : {0U, 1U, 2U, 4U, 8U}) {
    bytes bad = good;
    bad[where] = std::byte{0x77};
    EXPECT_THROW((envelope{bad, "x"}), failure) << where;
  }
}

// ---- keys -------------------------------------------------------------------------------------

TEST(embedded_keys, fit_into_lmdb_and_differ_for_different_names) {
  std::set<std::string> seen;
  for (const std::size_t size : {1U, 478U, 479U, 480U, 481U, 1'024U}) {
    for (const char last : {'a', 'b'}) {
      const std::string name = std::string(size - 1, 'x') + last;
      const key k{key_kind::name, name};
      EXPECT_LE(k.view().size(), 511U);
      EXPECT_EQ(k.hashed(), size > 479);
      EXPECT_TRUE(seen.emplace(k.view()).second) << size;
    }
  }
}

TEST(embedded_keys, of_deadlines_sort_by_time) {
  key early{key_kind::deadline};
  key late{key_kind::deadline};
  early.add_number(255).add_text("z");
  late.add_number(256).add_text("a");
  EXPECT_LT(early.view(), late.view());
}

TEST(embedded_keys, spread_names_over_all_shards_and_find_their_bucket_again) {
  std::set<std::size_t> shards;
  for (int i = 0; i < 500; ++i) {
    const std::string name = "orders/" + std::to_string(i);
    const site s{name};
    const spi::owner_id owner{1, 2, static_cast<std::uint64_t>(i)};
    shards.insert(s.shard());
    EXPECT_EQ(bucket_of(watch_key(name)), s.bucket());
    EXPECT_EQ(bucket_of(watch_key(name, owner)), s.bucket(owner));
  }
  EXPECT_EQ(shards.size(), shard_count);
}

TEST(embedded_keys, hash_is_the_documented_one) {
  EXPECT_EQ(hash_of(""), hash_of(""));
  EXPECT_NE(hash_of("a"), hash_of(std::string_view{"a\0", 2}));
  EXPECT_EQ(site{"orders/42"}.shard(), site{"orders/42"}.hash % 16);
}

}  // namespace
}  // namespace afar::engines::embedded
