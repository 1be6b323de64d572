-- KEYS: name, queue, token.  ARGV: owner, watchers' channel if it has one.  Ends a hold or gives up a place, and moves the line.  Returns 1 hold ended, 2 place given up, 0 gone.
local call, name, queue, tkey, owner = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local v = redis.pcall('GET', name)
local mine = type(v) == 'string' and string.find(v, owner .. ' ', 1, true) == 1
if mine and call('EXISTS', queue) == 0 then
  call('DEL', name)
  if ARGV[2] then redis.pcall('PUBLISH', ARGV[2], '') end
  return 1
end
local clock = call('TIME')
local us = clock[1] * 1000000 + clock[2]
--@include line
if mine then
  call('DEL', name)  -- the first write: allowed at maxmemory, so that the grant after it is too
  changed = true
  advance()
  tell(ARGV[2] or '')
  return 1
end
local answer = 0
if look() then return 0 end
if (held == 's' or held == 'p') and call('ZSCORE', name, owner) then
  drop(owner)
  answer = 1
end
local place = call('HGET', queue, owner)
if place then
  call('HDEL', queue, string.match(place, '^%d+'), owner)
  if answer == 0 then answer = 2 end
end
if call('EXISTS', queue) == 1 then advance() end
tell(ARGV[2] or '')
return answer
