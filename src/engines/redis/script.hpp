// The Lua scripts that are the engine's steps, one per file under scripts/<layout>/. CMake puts their text and
// its SHA-1 into the library.
#pragma once

#include <string_view>

namespace afar::engines::redis {

struct script {
  std::string_view name;
  std::string_view text;
  std::string_view sha;
  std::string_view call;  // "EVALSHA <sha>", as the first two words of a command
};

namespace scripts {
extern const script acquire, arrive, change, evict, keep, leave, record, release, renew, survey,
    tidy;
}
namespace scripts::redisson {
extern const script evict, lock, permits, renew, rwlock, survey, unlock, unlock_permits,
    unlock_rwlock;
}

}  // namespace afar::engines::redis
