-- KEYS: name, cell, queue.  ARGV: kind c|l|h, action load|store|add|compare_exchange|erase, operand, expected, initial or '', min, max, client or '' (nobody repeats it), its number, its settled numbers end here, channel.  One change of a cell.  Returns {applied, existed, value, before} as text; error AFARUSE, AFAROVERFLOW.
local call, name, cell = redis.call, KEYS[1], KEYS[2]
local kind, action, operand, initial, channel = ARGV[1], ARGV[2], ARGV[3], ARGV[5], ARGV[11]
--@include numbers
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- What a client's changes came to, "at;number,applied,existed,value,before;…", without those that it has the answers of.
local client, results = ARGV[8], ''
if client ~= '' and action ~= 'load' then
  for number, rest in string.gmatch(call('HGET', cell, client) or '', '(%d+),([^;]*);') do
    if number == ARGV[9] then
      local a, e, v, b = string.match(rest, '^(%d),(%d),([^,]*),(.*)$')
      return {a, e, v, b}
    end
    if tonumber(number) >= tonumber(ARGV[10]) then results = results .. number .. ',' .. rest .. ';' end
  end
end

-- What is learned of a latch by looking at it. (pcall: a full server does not keep anybody from looking.)
local function note(field, as)
  redis.pcall('HSET', cell, field, as)
  redis.pcall('PEXPIRE', cell, 86400000)
end

local t = call('TYPE', name).ok
local old = t == 'string' and call('GET', name) or nil
local side = call('HMGET', cell, 'k', 'z', 'l')
if t == 'none' then
  local waits = call('HMGET', KEYS[3], 'k', 'l')
  if waits[1] then return redis.error_reply('AFARUSE ' .. waits[1] .. ' ' .. waits[2]) end
  if side[1] == 'l' then  -- a latch that is done has no key, in Redisson's form
    old = '0'
    if not side[2] then note('z', '1') end  -- Java has counted the last
  end
elseif old then
  if not string.find(old, '^%-?%d+$') then
    return redis.error_reply('AFARUSE ' .. (string.match(old, '^%S+:%d+ %d+ %d+ (%a) ') or 'm') .. ' 1')
  end
elseif t == 'hash' then
  return redis.error_reply('AFARUSE ' .. (call('HEXISTS', name, 'stock') == 1 and 'k' or call('HEXISTS', name, 'mode') == 1 and 's' or 'm') .. ' 1')
elseif t == 'zset' then
  local limit = call('ZSCORE', name, '=l')
  return redis.error_reply('AFARUSE ' .. (limit and 'p ' .. string.sub(limit, 2) or 's 1'))
else
  return redis.error_reply('AFARUSE ' .. t .. ' 1')
end
if old and side[1] and side[1] ~= kind then return redis.error_reply('AFARUSE ' .. side[1] .. ' ' .. (side[3] or 1)) end

local existed = old and '1' or '0'
local before = old or (initial ~= '' and initial or '0')
if action == 'load' then
  if kind == 'l' and old and not side[1] then note('k', 'l') end  -- Java's: when it is gone, it is done
  return {(old or initial ~= '') and '1' or '0', existed, before, before}
end

local value
if action == 'erase' then
  if not old then return {'0', existed, before, before} end
  call('DEL', name)
  call('HDEL', cell, 'k', 'z')
  value = '0'
else
  local refused = {'0', existed, before, before}
  if not old and initial == '' then return refused end
  if kind == 'l' and before == '0' then return refused end
  if action == 'compare_exchange' and before ~= ARGV[4] then return refused end
  if action == 'add' then
    -- Redis adds 64 bits exactly; in a place of its own, because the sum may be refused.
    call('HSET', cell, 'sum', before)
    local sum = redis.pcall('HINCRBY', cell, 'sum', operand)
    value = call('HGET', cell, 'sum')
    call('HDEL', cell, 'sum')
    if type(sum) == 'table' then return redis.error_reply('AFAROVERFLOW 64 bits') end
  else
    value = operand
  end
  if kind == 'l' and less(value, '0') then value = '0' end
  if less(value, ARGV[6]) or less(ARGV[7], value) then return refused end
  if kind == 'l' and value == '0' then
    call('DEL', name)
    call('HSET', cell, 'k', kind, 'z', '1')
  else
    call('SET', name, value, 'KEEPTTL')
    call('HSET', cell, 'k', kind)
    call('HDEL', cell, 'z')
  end
end

if client ~= '' then
  if call('HLEN', cell) > 1000 then  -- clients that never came back
    local all = call('HGETALL', cell)
    for i = 1, #all, 2 do
      local at = string.match(all[i + 1], '^(%d+);')
      if at and now - at > 120000 then call('HDEL', cell, all[i]) end
    end
  end
  call('HSET', cell, client, string.format('%d;%s%s,1,%s,%s,%s;', now, results, ARGV[9], existed, value, before))
end
if action == 'erase' then call('PEXPIRE', cell, 120000)
elseif kind == 'l' and value == '0' then call('PEXPIRE', cell, 86400000)
else call('PERSIST', cell) end

-- Redisson's messages: the number of free permits when it grew; 0 when a latch opens, 1 when it is set.
if value ~= before or not old or action == 'erase' then
  if kind == 'l' then redis.pcall('PUBLISH', channel, value == '0' and action ~= 'erase' and '0' or '1')
  elseif kind == 'c' or less(before, value) or action == 'erase' then redis.pcall('PUBLISH', channel, value) end
end
return {'1', existed, value, before}
