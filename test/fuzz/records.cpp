// Records as SQL rows and LMDB pages have them: damaged, or written as they were read.
#include "engines/records/codec.hpp"
#include "require.hpp"

#include <cstring>
#include <span>
#include <vector>

namespace {

namespace records = afar::engines::records;

template <class Record>
void check(std::span<const std::byte> bytes) {
  Record first{};
  if (!records::decode(bytes, first)) return;
  std::vector<std::byte> written(records::encoded_size(first));
  records::encode(first, written.data());
  Record second{};
  afar::fuzz::require(records::decode(written, second), "what we write is a record");
  std::vector<std::byte> again(records::encoded_size(second));
  records::encode(second, again.data());
  afar::fuzz::require(written == again, "and says the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  const std::span<const std::byte> all{reinterpret_cast<const std::byte*>(bytes), size};
  check<records::claims>(all);
  check<records::cell>(all);
  check<records::ledger_record>(all);
  check<records::order_record>(all);
  return 0;
}
