-- KEYS: name, queue, token, past, cell.  ARGV: owner, waiter's lease ms (0: does not queue), limit, client's channel, note, '1' if it stood in line more than a minute ago.  A claim on a barrier.  Returns {1, token} passed, {0, retry ms} waits or refused; error AFARBROKEN, AFARUSE.
local call, name, queue, tkey, past = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, w, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
--@include barrier
local known = call('HGET', past, owner)
if known and tonumber(string.match(known, '%d+$')) > now then
  local token = string.match(known, '^passed (%d+)')
  if token then return {1, tonumber(token)} end
  return redis.error_reply('AFARBROKEN early')
end
local t = call('TYPE', name).ok
if t ~= 'none' then
  local is, of = t, 1
  if t == 'string' then
    local v = call('GET', name)
    if string.find(v, '^%-?%d+$') then is = call('HGET', KEYS[5], 'k') or 'c'
    else is = string.match(v, '^%S+:%d+ %d+ %d+ (%a) ') or 'm' end
  elseif t == 'hash' then is = call('HEXISTS', name, 'stock') == 1 and 'k' or call('HEXISTS', name, 'mode') == 1 and 's' or 'm'
  elseif t == 'zset' then
    is = call('ZSCORE', name, '=s') and 's' or 'p'
    of = -tonumber(call('ZSCORE', name, '=l') or '-1')
  end
  return redis.error_reply('AFARUSE ' .. is .. ' ' .. of)
end
local line, dead = generation()
if dead then
  conclude(line, 'broken')
  if call('HEXISTS', past, owner) == 1 then return redis.error_reply('AFARBROKEN early') end
  line = {}
end
if #line > 0 then
  local of = call('HGET', queue, 'l')
  if of ~= ARGV[3] then return redis.error_reply('AFARUSE b ' .. of) end
end
local place = call('HGET', queue, owner)
-- Its round may be over, so long ago that nobody knows how it ended: it must not be counted in the next one, too.
if not place and ARGV[6] == '1' then return redis.error_reply('AFARBROKEN forgotten') end
if w == 0 then
  if place then
    call('HDEL', queue, string.match(place, '^%d+'), owner)
    conclude((generation()), 'broken')
    return {0, 0}
  end
  if #line + 1 < limit then return {0, 0} end
end
local ww = w > 0 and w or 1000
local seq, since = string.match(place or '', '^(%d+) %d+ %d+ b %d+ (%d+) ')
seq = seq or text(call('HINCRBY', queue, 'n', 1))
call('HSET', queue, 'k', 'b', 'l', ARGV[3], seq, owner, owner,
  string.format('%s %d %d b 1 %s 0 %s ', seq, now + ww, ww, since or text(now), ARGV[4]) .. ARGV[5])
stretch(queue, ww)
line = generation()
if #line < limit then return {0, math.max(math.floor(ww / 3), 1)} end
local token = us
local old = call('SET', tkey, text(us), 'PX', 172800000, 'GET')
if old and tonumber(old) >= us then
  token = tonumber(old) + 1
  call('SET', tkey, text(token), 'PX', 172800000)
end
conclude(line, 'passed ' .. text(token), owner)
return {1, token}
