-- What a name is in use as, put where acquiring steps include "use". Needs call, name, cell and queue.
local function wrong(what, limit)
  local letter = what == 'lock' and 'm' or what == 'number' and 'c' or what
  return redis.error_reply('AFARUSE ' .. letter .. ' ' .. (limit or 1))
end

-- A kind's letter and limit; 'lock' for a Java RLock, 'number' for what Java's counters and semaphores look like, 'afar' for afar's own layout, a Redis type for anything else; nil if the name is free.
local function used_as()
  local t = call('TYPE', name).ok
  if t == 'none' then
    local waits = call('HMGET', queue, 'k', 'l')
    if waits[1] == 'b' then return 'b', waits[2] end
    return waits[1] and 'afar'
  elseif t == 'hash' then
    if call('HEXISTS', name, 'mode') == 1 then return 's' end
    local record = call('HGET', name, 'afar')
    if record then return string.match(record, '^%d+ (%a)') end
    return call('HEXISTS', name, 'stock') == 1 and 'k' or 'lock'
  elseif t == 'string' then
    if not string.find(call('GET', name), '^%-?%d+$') then return 'afar' end
    local is = call('HMGET', cell, 'k', 'l')
    return is[1] or 'number', is[2] or 1
  elseif t == 'zset' and (call('ZSCORE', name, '=s') or call('ZSCORE', name, '=p')) then
    return 'afar'
  end
  return t
end
