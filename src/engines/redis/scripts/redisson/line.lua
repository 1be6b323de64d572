-- The line, put where steps include "line". Needs call, now, list, places and timeouts (nil: not a fair lock's). Two keys: the order (a list; a fair lock's is RFairLock's own, in which Java's waiters stand too), and what afar's waiters say of themselves: "till w mode permits since java note", where java counts Java's waiters that stood before it.
local function alive(who)
  local place = call('HGET', places, who)
  if place then return tonumber(string.match(place, '^%d+')) > now end
  local score = timeouts and call('ZSCORE', timeouts, who)
  return score and tonumber(score) > now
end

local function forget(who)
  local stood = call('HDEL', places, who)
  if timeouts then call('ZREM', timeouts, who) end
  if call('EXISTS', list) == 0 then call('DEL', places) end
  return stood == 1
end

local function leave(who)
  call('LREM', list, 1, who)
  return forget(who)
end

-- The first of those who are alive; the dead before it are dropped.
local function front()
  while true do
    local who = call('LINDEX', list, 0)
    if not who or alive(who) then return who end
    call('LPOP', list)
    forget(who)
  end
end
