-- KEYS: name, cell, orders, buyers, due.  Removes what nobody will ask for: results of changes that are 2 minutes old, and what a cell or stock left that others deleted.  Returns how many records that was.
local call, name, cell, orders = redis.call, KEYS[1], KEYS[2], KEYS[3]
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local removed, kept = 0, false

local all = call('HGETALL', cell)
for i = 1, #all, 2 do
  local at = string.match(all[i + 1], '^(%d+);')
  if at and now - at > 120000 then removed = removed + call('HDEL', cell, all[i]) end
  kept = kept or all[i] == 'z' or (at and now - at <= 120000)  -- z: a latch that is done has no key
end
if call('EXISTS', name) == 0 then
  if not kept then removed = removed + call('DEL', cell) end
  removed = removed + call('HLEN', orders)
  call('DEL', orders, KEYS[4], KEYS[5])
end
return removed
