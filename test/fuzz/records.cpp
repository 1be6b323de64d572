// Records as LMDB pages have them: damaged, or written as they were read.
#include "engines/embedded/codec.hpp"
#include "require.hpp"

#include <cstring>
#include <span>
#include <vector>

namespace {

namespace embedded = afar::engines::embedded;
namespace records = afar::engines::records;

template <class Record>
void check(std::span<const std::byte> bytes) {
  Record first{};
  if (!embedded::decode(bytes, first)) return;
  std::vector<std::byte> written(embedded::encoded_size(first));
  embedded::encode(first, written.data());
  Record second{};
  afar::fuzz::require(embedded::decode(written, second), "what we write is a record");
  std::vector<std::byte> again(embedded::encoded_size(second));
  embedded::encode(second, again.data());
  afar::fuzz::require(written == again, "and says the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  const std::span<const std::byte> all{reinterpret_cast<const std::byte*>(bytes), size};
  check<records::claims>(all);
  check<records::cell>(all);
  check<embedded::ledger_record>(all);
  check<embedded::order_record>(all);
  return 0;
}
