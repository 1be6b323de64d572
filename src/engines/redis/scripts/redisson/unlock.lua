-- KEYS: name, line, places, timeouts (RFairLock).  ARGV: owner, kind m|f|e, Redisson's channel, watchers' channel or ''.  Ends a hold of RLock or RFairLock, or gives up a place.  Returns 1 hold ended, 2 place given up, 0 gone.
local call, name, list, owner = redis.call, KEYS[1], KEYS[2], ARGV[1]
local held = redis.pcall('HEXISTS', name, owner) == 1
if held then
  call('DEL', name)
  if ARGV[4] ~= '' then redis.pcall('PUBLISH', ARGV[4], '') end
  if ARGV[2] ~= 'f' then redis.pcall('PUBLISH', ARGV[3], '0') end
end
if call('EXISTS', list) == 0 then return held and 1 or 0 end

local places, timeouts = KEYS[3], ARGV[2] == 'f' and KEYS[4] or nil
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
--@include line
local stood = leave(owner)
local first = (held or stood) and front()
-- Of a fair lock only the first hears; a plain lock's waiters have heard of the release already.
if first and timeouts then redis.pcall('PUBLISH', ARGV[3] .. ':' .. first, '0')
elseif first and not held and call('EXISTS', name) == 0 then redis.pcall('PUBLISH', ARGV[3], '0') end
return held and 1 or stood and 2 or 0
