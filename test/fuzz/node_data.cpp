// What lies in ZooKeeper's nodes: read as ours and written the same, or left alone.
#include "engines/zookeeper/node_data.hpp"
#include "require.hpp"

#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  using afar::engines::zookeeper::node_data;
  const auto first = node_data::read({reinterpret_cast<const char*>(bytes), size});
  if (!first) return 0;
  const auto second = node_data::read(first->text());
  afar::fuzz::require(second.has_value(), "what we write is ours");
  afar::fuzz::require(second->text() == first->text(), "and says the same");
  return 0;
}
