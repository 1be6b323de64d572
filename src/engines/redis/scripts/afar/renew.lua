-- KEYS: per claim: name, queue, token, past.  ARGV: per claim: owner, kind, mode x|s|p|b, lease ms, waiter's lease ms, token, watchers' channel or '', note.  Returns per claim 1 renewed (a waiter: its place is kept), 0 expired, -1 evicted. Never creates, never shortens, does not move the line.
local call = redis.call
local clock = call('TIME')
local now = math.floor((clock[1] * 1000000 + clock[2]) / 1000)

local function stretch(key, ms)  -- first: allowed at maxmemory, and what follows then is too
  local left = call('PTTL', key)
  call('PEXPIRE', key, left > ms and left or ms)
  return left
end

-- The token of a hold grew (a quorum's does in its second round): so must those of later holds.
local function raise(tkey, token)
  if tonumber(token) > tonumber(call('GET', tkey) or '0') then call('SET', tkey, string.format('%d', token), 'PX', 172800000) end
end

local function holds(name, owner, mode, lease, token, note, channel, tkey)
  if mode ~= 'x' then
    local till = redis.pcall('ZSCORE', name, owner)
    if type(till) ~= 'string' or tonumber(till) < now then return false end
    stretch(name, lease)
    call('ZADD', name, 'GT', string.format('%d', now + lease), owner)
    call('PEXPIRE', tkey, 172800000)
    local was = call('ZSCORE', name, 't:' .. owner)
    if was and tonumber(token) > -tonumber(was) then
      for _, field in ipairs(call('ZRANGEBYSCORE', name, was, was)) do call('ZADD', name, '-' .. token, field) end
      raise(tkey, token)
    end
    return true
  end
  local v = redis.pcall('GET', name)
  if type(v) ~= 'string' or string.find(v, owner .. ' ', 1, true) ~= 1 then return false end
  local last, more, kind, since, old = string.match(v, '^(%d+) (%d+) (%a) (%-?%d+) (.*)$', #owner + 2)
  last, since, token = tonumber(last), tonumber(since), tonumber(token)
  local left = since < 0 and call('PTTL', name)
  call('PEXPIRE', name, lease)  -- first, see stretch; the lease of a hold does not change, so this is never shorter
  local was = last - more
  if since > 0 and now - since > 43200000 then call('PEXPIRE', tkey, 172800000) end  -- its grant gave it a day and a half at least
  if note ~= old or token > was or since < 0 then
    if since < 0 then since = now + since + left end  -- see acquire
    token = math.max(token, was)
    last = math.max(last, token)
    if token > was then raise(tkey, token) end
    call('SET', name, string.format('%s %d %d %s %d ', owner, last, last - token, kind, since) .. note, 'KEEPTTL')
    if note ~= old and channel ~= '' then redis.pcall('PUBLISH', channel, '') end
  end
  return true
end

local function waits(queue, owner, w)
  local place = call('HGET', queue, owner)
  if not place then return false end
  local seq, rest = string.match(place, '^(%d+) %d+ %d+ (.*)$')
  stretch(queue, w)
  call('HSET', queue, owner, string.format('%s %d %d ', seq, now + w, w) .. rest)
  return true
end

--@include past
local out = {}
for i = 1, #KEYS / 4 do
  local k, a = 4 * i - 3, 8 * i - 7
  local owner, mode, w = ARGV[a], ARGV[a + 2], tonumber(ARGV[a + 4])
  if mode ~= 'b' and holds(KEYS[k], owner, mode, tonumber(ARGV[a + 3]), ARGV[a + 5], ARGV[a + 7], ARGV[a + 6], KEYS[k + 2]) then
    out[i] = 1
  elseif waits(KEYS[k + 1], owner, w) then
    out[i] = 1
  else
    out[i] = became(KEYS[k + 3], owner, w)
  end
end
return out
