-- What arrive and leave share, put where they include "barrier". Needs call, queue and past. The queue is one generation that is not yet full; full or broken, its members find a verdict in past: "passed <token> <until>" or "broken <until>".
local clock = call('TIME')
local us = clock[1] * 1000000 + clock[2]
local now = math.floor(us / 1000)

local function text(n) return string.format('%d', n) end

local function stretch(key, ms)
  local left = call('PTTL', key)
  call('PEXPIRE', key, left > ms and left or ms)
end

-- Those in line: {owner, till, w, channel}; and whether one of them is dead.
local function generation()
  local line, dead, all = {}, false, call('HGETALL', queue)
  for i = 1, #all, 2 do
    local till, w, channel = string.match(all[i + 1], '^%d+ (%d+) (%d+) b %d+ %d+ %d+ (%S+) ')
    if till then
      line[#line + 1] = {all[i], tonumber(till), tonumber(w), channel}
      dead = dead or tonumber(till) <= now
    end
  end
  return line, dead
end

-- Everybody in line gets the verdict, also those whose own time is over: they may come back late, and must not open the next generation by accident.
local function conclude(line, verdict, me)
  local old = call('HGETALL', past)
  for i = 1, #old, 2 do
    if tonumber(string.match(old[i + 1], '%d+$')) <= now then call('HDEL', past, old[i]) end
  end
  call('DEL', queue)
  for _, m in ipairs(line) do
    local kept = math.max(m[3], 120000)  -- as long as anybody may ask again
    call('HSET', past, m[1], verdict .. ' ' .. text(now + kept))
    stretch(past, kept)
    if m[1] ~= me then redis.pcall('PUBLISH', m[4], m[1] .. ' 0 0') end
  end
end
