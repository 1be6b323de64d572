-- KEYS: name, token, past, cell, queue, line, places, timeouts (RFairLock).  ARGV: owner, kind m|f|e, lease ms, waiter's lease ms (0: does not queue), tokens to reserve, token held (0: none), watchers' channel or '', note, Redisson's channel.  RLock and RFairLock.  Returns {1, token, last token} granted or already mine, {0, retry ms, newest token} refused, {2, why} the hold is gone; error AFARUSE.
local call, name, tkey, cell, queue, list = redis.call, KEYS[1], KEYS[2], KEYS[4], KEYS[5], KEYS[6]
local owner, kind, note = ARGV[1], ARGV[2], ARGV[8]
--@include token
local function tell()
  if ARGV[7] ~= '' then redis.pcall('PUBLISH', ARGV[7], '') end
end
-- Java sees its own lock: one field, count 1. The field afar means nothing to it, and goes with the key.
local function take()
  local token, last = mint(tonumber(ARGV[5]))
  call('HSET', name, owner, '1', 'afar', string.format('%d %s %d %d ', token, kind, now, last) .. note)
  call('PEXPIRE', name, ARGV[3])
  tell()
  return {1, token, last}
end
-- Nobody holds, nobody waits: all that follows costs more than this step, even if it only defines functions.
if ARGV[6] == '0' and call('EXISTS', name, queue, list) == 0 then return take() end

local places, timeouts = KEYS[7], kind == 'f' and KEYS[8] or nil
--@include stretch
--@include use
--@include line
--@include stand
local is, of = used_as()
if is and is ~= kind and is ~= 'lock' then return wrong(is, of) end
if is == kind and call('HEXISTS', name, owner) == 1 then
  stretch(name, tonumber(ARGV[3]))
  local token, since, last, old = string.match(call('HGET', name, 'afar') or '', '^(%d+) %a (%d+) (%d+) (.*)$')
  if old ~= note then
    call('HSET', name, 'afar', string.format('%s %s %s %s ', token, kind, since, last) .. note)
    tell()
  end
  return {1, tonumber(token), tonumber(last)}
end
if ARGV[6] ~= '0' then
  local past = call('HGET', KEYS[3], owner)
  return {2, past and string.match(past, '^%a+') or 'expired'}
end
if not is then
  is, of = line_kind(kind, '1')
  if is then return wrong(is, of) end
end

local w = tonumber(ARGV[4])
if call('EXISTS', name) == 0 then
  local first = behind(owner)
  if not first then
    leave(owner)
    return take()
  end
  -- Who died told nobody; Java's waiters would not look before the lease ends that they have seen.
  if timeouts then redis.pcall('PUBLISH', ARGV[9] .. ':' .. first, '0') end
end
if w == 0 then
  leave(owner)
  return {0, math.max(call('PTTL', name), 0), tonumber(call('GET', tkey) or '0')}
end
stand(owner, kind, '1', w, 'x', 1, note)
return {0, pause(owner, w, call('PTTL', name)), tonumber(call('GET', tkey) or '0')}
