-- KEYS: name, queue, token.  ARGV: owner, watchers' channel if it has one.  Ends a hold or gives up a place, and moves the line.  Returns 1 hold ended, 2 place given up, 3 hold ended and somebody heard of it on the channel, 0 gone.
local call, name, queue, tkey, owner = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local v = redis.pcall('GET', name)
local mine = type(v) == 'string' and string.find(v, owner .. ' ', 1, true) == 1
if mine and call('EXISTS', queue) == 0 then
  call('DEL', name)
  local heard = ARGV[2] and redis.pcall('PUBLISH', ARGV[2], '')
  return type(heard) == 'number' and heard > 0 and 3 or 1
end
local clock = call('TIME')
local us = clock[1] * 1000000 + clock[2]
if mine then
  -- A live one in front that wants it alone: in few words, as it is what most releases do where many wait.
  local q = call('HMGET', queue, 'h', 'n', 'k')
  local head = q[1] or '1'
  local to = call('HGET', queue, head)
  local place = to and call('HGET', queue, to)
  local till, w, more, channel, note = string.match(place or '', '^%d+ (%d+) (%d+) x %d+ %d+ (%d+) (%S+) (.*)$')
  local now = math.floor(us / 1000)
  if till and tonumber(till) > now then
    call('HDEL', queue, head, to)  -- the first write: allowed at maxmemory, so that the grant after it is too
    if head == q[2] then call('DEL', queue) else call('HSET', queue, 'h', string.format('%d', head + 1)) end
    -- A grant that nobody has confirmed is short: waiters that died together cost little more than one of them.
    local ms = math.min(w, math.max(till - now, math.floor(w / 4)))
    local last = call('INCRBY', tkey, more + 1)
    if math.abs(last - us) > 43200000000 then  -- a new key, or one that may end before long
      last = math.max(us + more, last)
      call('SET', tkey, string.format('%d', last), 'PX', 172800000)
    end
    call('SET', name, to .. string.format(' %d %s %s %d ', last, more, q[3], now) .. note, 'PX', ms)
    redis.pcall('PUBLISH', channel, to .. string.format(' %d %d %s', last - more, ms, more))
    if ARGV[2] then redis.pcall('PUBLISH', ARGV[2], '') end
    return 1
  end
end
--@include line
if mine then
  call('DEL', name)  -- the first write: allowed at maxmemory, so that the grant after it is too
  changed = true
  advance()
  return tell(ARGV[2] or '') and 3 or 1
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
if tell(ARGV[2] or '') and answer == 1 then answer = 3 end
return answer
