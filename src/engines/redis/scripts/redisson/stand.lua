-- Standing in line, put where acquiring steps include "stand". Needs what line needs, and text and stretch.

-- Who stands before owner and is to be served first, if anybody does. Those of whom beside(mode, permits) is true may be served together with it.
local function behind(owner, beside)
  local first = front()
  if not first or first == owner then return end
  if not beside then return first end
  for _, who in ipairs(call('LRANGE', list, 0, -1)) do
    if who == owner then return end
    local till, mode, n = string.match(call('HGET', places, who) or '', '^(%d+) %d+ (%a) (%d+)')
    if till and tonumber(till) > now and not beside(mode, tonumber(n)) then return who end
  end
end

-- RFairLock's clock of a waiter: a heartbeat. When one of Java's waiters leaves the line, it takes its own waiting time, 5 minutes, off the scores of all behind it.
local function beat(owner, w, java)
  if call('LINDEX', list, 0) == owner then java = 0 end
  java = math.max(math.min(java, call('LLEN', list) - call('HLEN', places) + 2), 0)
  call('ZADD', timeouts, text(now + w + 300000 * java), owner)
  local last = call('ZREVRANGE', timeouts, 0, 0, 'WITHSCORES')[2]
  for _, key in ipairs({list, timeouts}) do stretch(key, math.max(tonumber(last) - now, 0) + 3600000) end
end

-- Takes a place in the line, or keeps it.
local function stand(owner, kind, limit, w, mode, n, note)
  local since, java = string.match(call('HGET', places, owner) or '', '^%d+ %d+ %a %d+ (%d+) (%d+) ')
  if since then stretch(places, w) end
  -- Whom Java's clock has dropped stands at the end again.
  if not since or (timeouts and not call('ZSCORE', timeouts, owner)) then
    call('HDEL', places, owner)
    java = math.max(call('LLEN', list) - math.max(call('HLEN', places) - 2, 0), 0)
    call('RPUSH', list, owner)
  end
  call('HSET', places, 'k', kind, 'l', limit, owner,
    string.format('%d %d %s %d %s %d ', now + w, w, mode, n, since or text(now), java) .. note)
  stretch(places, w)
  if timeouts then beat(owner, w, tonumber(java)) else stretch(list, w) end
end

-- How long a waiter may sleep: a third of its time in line; the first looks when the hold before it ends.
local function pause(owner, w, left)
  local ms = math.floor(w / 3)
  if left >= 0 and left + 1 < ms and call('LINDEX', list, 0) == owner then ms = left + 1 end
  return math.max(ms, 1)
end

-- Whether those in line want the name as another kind, or with another limit.
local function line_kind(kind, limit)
  if not front() then return end
  local is = call('HMGET', places, 'k', 'l')
  if is[1] and (is[1] ~= kind or is[2] ~= limit) then return is[1], is[2] end
end
