#include "engines/embedded/stored.hpp"

#include "engines/embedded/failure.hpp"
#include "engines/records/wrong_use.hpp"

#include <string>

namespace afar::engines::embedded {

template <class Record>
void decode_or_fail(const envelope& where, std::string_view name, Record& into) {
  if (decode(where.valid(), into)) return;
  throw failure{errc::damaged, "the record of '" + std::string{name} + "' makes no sense"};
}

void check_replaceable(const envelope& where, std::string_view name, spi::kind wanted,
                       std::uint64_t now_us) {
  records::usage is{spi::kind::stock};
  if (where.family() == family::claims) {
    records::claims c;
    decode_or_fail(where, name, c);
    // A token floor that the clock has passed protects nothing any more.
    if (c.idle() && c.last_token < now_us) return;
    is = {c.kind, c.limit};
  } else if (where.family() == family::cell) {
    records::cell c;
    decode_or_fail(where, name, c);
    if (!c.exists) return;
    is = {c.kind};
  }
  throw failure{records::wrong_use(is, {wanted})};
}

template <class Record>
void put_record(environment::transaction& change, const key& k, std::string_view name,
                const Record& record) {
  const std::size_t size = encoded_size(record);
  const auto value = change.put(k.view(), envelope::size_for(size, name));
  encode(record, envelope::make(value, family_of<Record>, size, name).data());
}

template <class Record>
stored<Record>::stored(environment& env, std::string_view name, spi::kind wanted,
                       std::uint64_t now_us, Record& record)
    : env_(env), name_(name), key_(key_kind::name, name), view_(env) {
  const auto value = view_.find(key_.view());
  if (value) where_.emplace(*value, name);
  exists_ = value && where_->family() == family_of<Record>;
  if (exists_) {
    decode_or_fail(*where_, name, record);
    return;
  }
  record = {};
  if (value) check_replaceable(*where_, name, wanted, now_us);
}

template class stored<records::claims>;
template class stored<records::cell>;
template void decode_or_fail(const envelope&, std::string_view, records::claims&);
template void decode_or_fail(const envelope&, std::string_view, records::cell&);
template void decode_or_fail(const envelope&, std::string_view, ledger_record&);
template void put_record(environment::transaction&, const key&, std::string_view,
                         const records::claims&);
template void put_record(environment::transaction&, const key&, std::string_view,
                         const records::cell&);
template void put_record(environment::transaction&, const key&, std::string_view,
                         const ledger_record&);

}  // namespace afar::engines::embedded
