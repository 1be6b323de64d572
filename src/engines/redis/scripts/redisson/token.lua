-- Time and tokens, put where steps include "token". Needs call and tkey.
local clock = call('TIME')
local us = clock[1] * 1000000 + clock[2]
local now = math.floor(us / 1000)

local function text(n) return string.format('%d', n) end

-- A key that has no time limit was made by a Java RFencedLock and keeps none: its INCR starts at 1 where there is no key.
local function keep_token()
  local left = call('PTTL', tkey)
  if left >= 0 and left < 86400000 then call('PEXPIRE', tkey, 172800000) end
end

-- Gives out 1 + more tokens: the first and the last.
local function mint(more)
  local token = us
  local old = call('SET', tkey, text(us + more), 'KEEPTTL', 'GET')
  if old and tonumber(old) >= us then
    token = tonumber(old) + 1
    call('SET', tkey, text(token + more), 'KEEPTTL')
  end
  if old then keep_token() else call('PEXPIRE', tkey, 172800000) end
  return token, token + more
end
