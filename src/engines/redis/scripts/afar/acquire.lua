-- KEYS: name, queue, token, past, cell.  ARGV: owner, kind, mode x|s|p, lease ms, waiter's lease ms (0: does not queue), permits, limit, client's channel, tokens to reserve, token held (0: none), watchers' channel or '', note.  Returns {1, token, last token} granted or already mine, {0, retry ms, newest token} refused, {2, why} the hold to convert is gone; error AFARUSE.
local call, name, queue, tkey = redis.call, KEYS[1], KEYS[2], KEYS[3]
local clock = call('TIME')
local us = clock[1] * 1000000 + clock[2]
if ARGV[3] == 'x' and ARGV[10] == '0' and call('EXISTS', name, queue) == 0 then
  -- Nobody holds, nobody waits: all that follows costs more than this step, even if it only defines functions.
  local token, more = us, tonumber(ARGV[9])
  local old = call('SET', tkey, string.format('%.0f', us + more), 'PX', 172800000, 'GET')
  if old and tonumber(old) >= us then
    token = tonumber(old) + 1
    call('SET', tkey, string.format('%.0f', token + more), 'PX', 172800000)
  end
  call('SET', name, string.format('%s %.0f %s %.0f %.0f ', ARGV[1], token, ARGV[2], math.floor(us / 1000), token + more) .. ARGV[12], 'PX', ARGV[4])
  if ARGV[11] ~= '' then redis.pcall('PUBLISH', ARGV[11], '') end
  return {1, token, token + more}
end
--@include line
local owner, kind, mode, note = ARGV[1], ARGV[2], ARGV[3], ARGV[12]
local lease, w, n, limit = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local more, mine, watchers = tonumber(ARGV[9]), tonumber(ARGV[10]), ARGV[11]
local bad = look(KEYS[5])
if bad then return bad end

if held == 'x' and holder.owner == owner then
  local token = math.max(holder.token, mine)
  local last = math.max(holder.last, token)
  if mine > 0 and mode == 's' then
    call('DEL', name)
    held = nil
    give(owner, kind, 's', n, limit, lease, note, 0, token)
    advance()
    tell(watchers)
    return {1, token, token}
  end
  stretch(name, lease)
  write(owner, token, holder.kind, holder.since, last, note)
  changed = note ~= holder.note
  tell(watchers)
  return {1, token, last}
end
local score = (held == 's' or held == 'p') and call('ZSCORE', name, 't:' .. owner)
if score then
  local token = -tonumber(score)
  if mine > 0 and mode == 'x' then
    if used > 1 then return {0, 0, newest()} end
    drop(owner)
    local t, last = give(owner, kind, 'x', n, limit, lease, note, more)
    tell(watchers)
    return {1, t, last}
  end
  stretch(name, lease)
  call('ZADD', name, 'GT', now + lease, owner)
  return {1, token, token}
end
if mine > 0 then
  local past = call('HGET', KEYS[4], owner)
  return {2, past and string.match(past, '^%a+') or 'expired'}
end

bad = check(kind, limit)
if bad then return bad end
local place = call('HGET', queue, owner)
if place and w == 0 then
  call('HDEL', queue, string.match(place, '^%d+'), owner)
  place = nil
end
if not place then
  advance()
  if not front() and can(mode, n, limit) then
    local t, last = give(owner, kind, mode, n, limit, lease, note, more)
    tell(watchers)
    return {1, t, last}
  end
  if w == 0 then
    tell(watchers)
    return {0, math.max(call('PTTL', name), 0), newest()}
  end
end

if place then stretch(queue, w) end
local seq, since = string.match(place or '', '^(%d+) %d+ %d+ %a %d+ (%d+) ')
seq = seq or string.format('%.0f', call('HINCRBY', queue, 'n', 1))
call('HSET', queue, 'k', kind, 'l', ARGV[7], seq, owner, owner,
  string.format('%s %.0f %d %s %d %s %d %s ', seq, now + w, w, mode, n, since or text(now), more, ARGV[8]) .. note)
if not place then stretch(queue, w) end
head = nil  -- the queue may be a new one
local t, last = advance(owner, lease)
tell(watchers)
if t then return {1, t, last} end
local retry = math.floor(w / 3)
if tonumber(seq) == head then  -- only the front watches the holder's clock
  local left = call('PTTL', name)
  if held == 'p' then
    local first = call('ZRANGEBYSCORE', name, '(0', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if first[2] then left = tonumber(first[2]) - now end
  end
  if left >= 0 and left + 1 < retry then retry = left + 1 end
end
return {0, math.max(retry, 1), newest()}
