-- KEYS: name, token, past, cell, queue, line, places, timeouts of permits, holders.  ARGV: owner, permits, limit, lease ms, waiter's lease ms (0: does not queue), Redisson's channel, note.  RPermitExpirableSemaphore.  Returns as lock does.
local call, name, tkey, cell, queue, list, places = redis.call, KEYS[1], KEYS[2], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local due, who, timeouts = KEYS[8], KEYS[9], nil
local owner, n, limit, lease, w, note = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[7]
--@include token
--@include stretch
--@include use
--@include line
--@include stand
--@include permit
local is, of = used_as()
if is and is ~= 'p' and is ~= 'number' then return wrong(is, of) end
if not is then
  local wanted
  wanted, of = line_kind('p', ARGV[3])
  if wanted then return wrong(wanted, of) end
end

-- How many are free. A counter with a time limit is our own; one without was made by Java (trySetPermits), and is left alone.
local free = tonumber(call('GET', name) or '-1')
local ended = call('ZRANGEBYSCORE', due, '-inf', '(' .. text(now))
if #ended > 0 and free >= 0 then
  call('ZREM', due, unpack(ended, 1, math.min(#ended, 1000)))
  free = call('INCRBY', name, math.min(#ended, 1000))
end
local out = call('ZCARD', due)
if free < 0 or (is == 'p' and free + out ~= limit and out == 0 and call('PTTL', name) >= 0) then
  free = math.max(limit - out, 0)
  call('SET', name, free, 'PX', 172800000)
end
if free + out ~= limit then return wrong('p', free + out) end
local function keep_count()
  local left = call('PTTL', name)
  if left >= 0 and left < 172800000 then
    call('PEXPIRE', name, 172800000)
    left = 172800000
  end
  if left >= 0 then call('PEXPIRE', due, left) else call('PERSIST', due) end
  call('HSET', cell, 'k', 'p', 'l', ARGV[3])
  call('PEXPIRE', cell, 172800000)
end

local score = text(now + lease + 1)
if call('ZSCORE', due, permit(owner, 1)) then
  stretch(who, lease)
  for i = 1, n do call('ZADD', due, 'XX', 'GT', score, permit(owner, i)) end
  local token = tonumber(string.match(call('HGET', who, owner) or '0', '^%d+'))
  return {1, token, token}
end
-- Who stands before it gets its permits first; whoever fits beside them need not wait.
local before = 0
local blocked = behind(owner, function(_, wanted)
  before = before + wanted
  return before + n <= free
end)
if free >= n and not blocked then
  leave(owner)
  local token = mint(0)
  call('DECRBY', name, n)
  for i = 1, n do call('ZADD', due, score, permit(owner, i)) end
  -- Holders that ended without a word leave a line here; all are gone when nobody holds for a lease.
  if call('HLEN', who) > out + 100 then
    for _, o in ipairs(call('HKEYS', who)) do
      if not call('ZSCORE', due, permit(o, 1)) then call('HDEL', who, o) end
    end
  end
  call('HSET', who, owner, string.format('%d %d %d ', token, n, now) .. note)
  stretch(who, lease)
  keep_count()
  if #ended > 0 and free > n then redis.pcall('PUBLISH', ARGV[6], free - n) end
  return {1, token, token}
end
local first = call('ZRANGE', due, 0, 0, 'WITHSCORES')[2]
local left = first and tonumber(first) - now or -1
if w == 0 then
  leave(owner)
  return {0, math.max(left, 0), tonumber(call('GET', tkey) or '0')}
end
stand(owner, 'p', ARGV[3], w, 'p', n, note)
return {0, pause(owner, w, left), tonumber(call('GET', tkey) or '0')}
