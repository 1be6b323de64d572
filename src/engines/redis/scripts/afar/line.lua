-- What acquire, release and evict share, put where they include "line". Needs call, name, queue, tkey and us (TIME in microseconds). Rule: after `advance` a free name has no live waiter.
local now = math.floor(us / 1000)
local held, used, holder = nil, 0, nil  -- how name is held: nil, x, s, p; permits or readers; the record of x
local changed = false                   -- somebody became a holder or ceased to be one

local function text(n) return string.format('%d', n) end

-- The first write of every refresh: PEXPIRE is allowed at maxmemory, and what follows it then is too.
local function stretch(key, ms)
  local left = call('PTTL', key)
  call('PEXPIRE', key, left > ms and left or ms)
end

local function newest() return tonumber(call('GET', tkey) or '0') end

local function tell(channel)  -- returns whether somebody heard it
  local heard = changed and channel ~= '' and redis.pcall('PUBLISH', channel, '')
  return type(heard) == 'number' and heard > 0
end

local function mint(more)
  local token = us
  local old = call('SET', tkey, text(us + more), 'PX', 172800000, 'GET')
  if old and tonumber(old) >= us then
    token = tonumber(old) + 1
    call('SET', tkey, text(token + more), 'PX', 172800000)
  end
  return token, token + more
end

-- An exclusive holder: its token is the last one less those that it may still hand on. (Lua's format cuts a note at a zero byte; .. does not.)
local function record(owner, token, kind, since, last, note)
  return string.format('%s %d %d %s %d ', owner, last, last - token, kind, since) .. note
end

-- Replaces the exclusive holder's record, if it differs; its TTL stays.
local function write(owner, token, kind, since, last, note)
  if holder and holder.token == token and holder.last == last and holder.note == note then return end
  call('SET', name, record(owner, token, kind, since, last, note), 'KEEPTTL')
end

-- One holder leaves the zset. Token, start and note of a holder have scores that nobody else's have.
local function drop(owner)
  local permits = -tonumber(call('ZSCORE', name, 'n:' .. owner) or '-1')
  local token = call('ZSCORE', name, 't:' .. owner)
  if token then call('ZREMRANGEBYSCORE', name, token, token) end
  call('ZREM', name, owner, 'n:' .. owner, 'a:' .. owner)
  used = -tonumber(call('ZINCRBY', name, permits, '=' .. held))
  changed = true
  if used <= 0 then
    call('DEL', name)
    held, used = nil, 0
  end
end

local function wrong(what, limit) return redis.error_reply('AFARUSE ' .. what .. ' ' .. (limit or 1)) end

-- Reads who holds name and drops what is over; nil, or an error if name is no claim of this layout.
local function look(cell)
  local t = call('TYPE', name).ok
  if t == 'none' then return end
  if t == 'string' then
    local v = call('GET', name)
    if string.find(v, '^%-?%d+$') then
      local is = cell and call('HGET', cell, 'k') or 'c'
      return wrong(is == 'p' and 'redisson' or is)
    end
    held = 'x'
    local owner, last, more, kind, since, note = string.match(v, '^(%S+:%d+) (%d+) (%d+) (%a) (%-?%d+) (.*)$')
    if not owner then  -- the lock of a plain SET NX PX peer
      holder = {token = 0, kind = 'm', since = now, last = 0, note = v}
      return
    end
    since = tonumber(since)
    if since < 0 then since = now + since + call('PTTL', name) end  -- granted at once for -since, not renewed yet
    holder = {owner = owner, token = last - more, kind = kind, since = since, last = tonumber(last), note = note}
    return
  end
  if t == 'hash' then return wrong(call('HEXISTS', name, 'stock') == 1 and 'k' or 'redisson') end
  if t ~= 'zset' then return wrong(t) end
  local s, p = call('ZSCORE', name, '=s'), call('ZSCORE', name, '=p')
  if not (s or p) then return wrong(t) end
  held = s and 's' or 'p'
  used = -tonumber(s or p)
  -- Milliseconds are cut off, so a lease is over only when its last one has passed.
  for _, o in ipairs(call('ZRANGEBYSCORE', name, '(0', '(' .. text(now))) do drop(o) end
end

local function can(mode, n, limit)
  if not held then return true end
  if mode == 'x' or held ~= mode then return false end
  return mode == 's' or used + n <= limit
end

-- Makes owner a holder for ms. A token that is kept (downgrade) is not minted anew.
local function give(owner, kind, mode, n, limit, ms, note, more, kept)
  changed = true
  local token, last = kept, kept
  if not kept then token, last = mint(more) end
  if mode == 'x' then
    call('SET', name, record(owner, token, kind, now, last, note), 'PX', ms)
    held, holder = 'x', nil
    return token, last
  end
  call('ZADD', name, now + ms, owner, text(-token), 't:' .. owner, text(-token), 'i:' .. owner .. ' ' .. note, text(-now), 'a:' .. owner)
  if n > 1 then call('ZADD', name, -n, 'n:' .. owner) end
  if mode == 'p' then call('ZADD', name, -limit, '=l') end
  used = -tonumber(call('ZINCRBY', name, -n, '=' .. mode))
  held = mode
  if call('PTTL', name) < ms then call('PEXPIRE', name, ms) end
  return token, token
end

local head, tail  -- of the queue, once front has read them
-- The first live waiter: owner and what its place says. Drops the dead before it, and an empty queue.
local function front()
  if not head then
    local v = call('HMGET', queue, 'h', 'n')
    head, tail = tonumber(v[1] or '1'), tonumber(v[2] or '0')
  end
  local from = head
  while head <= tail do
    local owner = call('HGET', queue, text(head))
    if owner then
      local place = call('HGET', queue, owner)
      if place then
        local till, w, mode, n, more, channel, note = string.match(place, '^%d+ (%d+) (%d+) (%a) (%d+) %d+ (%d+) (%S+) (.*)$')
        if tonumber(till) > now then
          if head > from then call('HSET', queue, 'h', text(head)) end
          return owner, tonumber(till), tonumber(w), mode, tonumber(n), tonumber(more), channel, note
        end
      end
      call('HDEL', queue, text(head), owner)
    end
    head = head + 1
  end
  if tail > 0 then call('DEL', queue) end
end

-- Grants from the front while the front fits; token and last token of `me`, if it was among them.
local function advance(me, lease)
  local mine, mine_last
  while true do
    local owner, till, w, mode, n, more, channel, note = front()
    if not owner or mode == 'b' then break end
    local kl = call('HMGET', queue, 'k', 'l')
    local kind, limit = kl[1], tonumber(kl[2])
    if not can(mode, n, limit) then break end
    -- A grant that nobody has confirmed is short: waiters that died together cost little more than one of them.
    local ms = math.min(w, math.max(till - now, math.floor(w / 4)))
    if owner == me then ms = lease end
    local token, last = give(owner, kind, mode, n, limit, ms, note, more)
    call('HDEL', queue, text(head), owner)
    head = head + 1
    if head > tail then call('DEL', queue) else call('HSET', queue, 'h', text(head)) end
    if owner == me then
      mine, mine_last = token, last
    else
      -- A publish that fails (ACL, slot) must not end the script half way.
      redis.pcall('PUBLISH', channel, owner .. ' ' .. text(token) .. ' ' .. ms .. ' ' .. text(last - token))
    end
    if head > tail then break end
  end
  return mine, mine_last
end

-- Whether name is in use as another kind, or with another limit.
local function check(kind, limit)
  local is, of = nil, 1
  if held == 'x' then is = holder.kind
  elseif held == 's' then is = 's'
  elseif held == 'p' then is, of = 'p', -tonumber(call('ZSCORE', name, '=l') or '-1')
  elseif front() then
    local kl = call('HMGET', queue, 'k', 'l')
    is, of = kl[1], tonumber(kl[2])
  end
  if not is then return end
  if is ~= kind or ((kind == 'p' or kind == 'b') and of ~= limit) then return wrong(is, of) end
end
