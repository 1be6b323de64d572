// For programs that keep the data itself in Redis: the check of a token and the write as one step.
#pragma once

#include <string_view>

namespace afar::redis {

// Lua, to be put before a script of yours. It defines
//
//   afar_admit(key, token)   true: `token` is at least as large as every one admitted before, and is
//                            now the largest. False: a newer holder was here; do not write.
//
// `key` is a key of your own, in a cluster of the slot of what you write; `token` is hold::token() in
// decimal. It is the counter of that name, so that fence::in_counter shares it.
//
//   EVAL fence_lua .. "if not afar_admit(KEYS[1], ARGV[1]) then return 0 end
//                      redis.call('SET', KEYS[2], ARGV[2]) return 1"
//        2 {order:7}:fence {order:7} 1763230000000001 paid
inline constexpr std::string_view fence_lua = R"(local function afar_admit(key, token)
  if not string.find(token, '^[1-9]%d*$') then return false end
  local largest = redis.call('GET', key)
  -- By digits: Lua's numbers are exact up to 2^53 only.
  if largest and (#largest > #token or (#largest == #token and largest > token)) then return false end
  if largest ~= token then redis.call('SET', key, token) end
  return true
end
)";

}  // namespace afar::redis
