-- KEYS: name, queue, token, past.  ARGV: owner, token, watchers' channel or ''.  Ends the hold of that owner with that token and burns one token, so that a fence can be raised.  Returns 1 ended, now or when this was asked before, 0 no such hold.
local call, name, queue, tkey, owner = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local clock = call('TIME')
local us = clock[1] * 1000000 + clock[2]
--@include line
-- Asked again because the answer was lost.
if string.match(call('HGET', KEYS[4], owner) or '', '^evicted (%d+) ') == ARGV[2] then return 1 end
if look() then return 0 end
local left = call('PTTL', name)
local wanted = tonumber(ARGV[2])
if held == 'x' and holder.owner == owner and holder.token == wanted then
  call('DEL', name)
  held = nil
elseif (held == 's' or held == 'p') and -tonumber(call('ZSCORE', name, 't:' .. owner) or '0') == wanted then
  left = tonumber(call('ZSCORE', name, owner)) - now
  drop(owner)
else
  return 0
end
left = math.max(left, 120000)  -- as long as anybody may ask again
call('HSET', KEYS[4], owner, 'evicted ' .. ARGV[2] .. ' ' .. text(now + left))
stretch(KEYS[4], left)
mint(0)
changed = true
advance()
tell(ARGV[3])
return 1
