// Names in keys and paths, and back; what others have put there is read without harm.
#include "engines/zookeeper/names.hpp"
#include "core/note.hpp"
#include "engines/redis/layout.hpp"
#include "require.hpp"

#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  using afar::fuzz::require;
  namespace zk = afar::engines::zookeeper;
  namespace redis = afar::engines::redis::layout;
  const std::string_view text{reinterpret_cast<const char*>(bytes), size};

  const std::string segment = zk::escaped(text);
  require(segment.find('/') == std::string::npos, "a name is one segment of a path");
  require(zk::unescaped(segment) == std::string{text}, "a name comes back from its segment");
  if (const auto name = zk::unescaped(text))
    require(zk::unescaped(zk::escaped(*name)) == name, "again");
  const zk::contender c = zk::read_contender(text);
  require(c.is == zk::marker::foreign || zk::read_contender(c.name).order == c.order,
          "a contender's name says what it is");

  const afar::spi::owner_id owner = redis::owner_of(text);
  require(owner == afar::spi::owner_id{} || owner == redis::owner_of(owner.text()),
          "an owner comes back from its text");
  const auto note = afar::detail::note::decode(text);
  require(note.encode().size() <= afar::detail::longest_note, "a note is short");
  return 0;
}
