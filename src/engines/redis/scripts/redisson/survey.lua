-- KEYS: name, queue, token, cell, line, places, line and timeouts of RFairLock, timeouts of permits, their holders.  ARGV: family claims|cells|stocks or '' (whichever it is), beginning of lease keys.  Read-only.  Returns as afar's survey does, whose text follows for all that has one form in both layouts.
local call, name, base = redis.call, KEYS[1], ARGV[2]
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
--@include permit
local t, kind, limit, holders, waiters = call('TYPE', name).ok, nil, 1, {}, {}
local function add(list, owner, mode, n, token, since, left, note)
  list[#list + 1] = {owner, mode, n, tonumber(token or 0), math.max(now - tonumber(since or now), 0), left, note or ''}
end

local function locks(all)
  local token, k, since, note
  for i = 1, #all, 2 do
    if all[i] == 'afar' then token, k, since, note = string.match(all[i + 1], '^(%d+) (%a) (%d+) %d+ (.*)$') end
  end
  kind = k or 'm'
  for i = 1, #all, 2 do
    if all[i] ~= 'afar' then add(holders, all[i], 'x', 1, token, since, call('PTTL', name), note) end
  end
end

local function rwlock(all)
  kind = 's'
  for i = 1, #all, 2 do
    local owner, field = string.gsub(all[i], ':write$', ''), all[i]
    local left, token, since, note = -2, nil, nil, nil
    for k = 1, tonumber(all[i + 1]) or 0 do
      local key = base .. field .. ':rwlock_timeout:' .. k
      left = math.max(left, call('PTTL', key))
      if k == 1 then token, since, note = string.match(call('GET', key) or '', '^(%d+) (%d+) %d+ (.*)$') end
    end
    if owner ~= field then left = call('PTTL', name) end
    if field ~= 'mode' and left ~= -2 then add(holders, owner, owner ~= field and 'x' or 's', 1, token, since, left, note) end
  end
end

local function permits(free)
  kind, limit = 'p', free + call('ZCARD', KEYS[9])
  local all = call('HGETALL', KEYS[10])
  for i = 1, #all, 2 do
    local token, n, since, note = string.match(all[i + 1], '^(%d+) (%d+) (%d+) (.*)$')
    local till = call('ZSCORE', KEYS[9], permit(all[i], 1))
    if till and tonumber(till) >= now then add(holders, all[i], 'p', tonumber(n), token, since, tonumber(till) - now, note) end
  end
end

local function line(list, timeouts)
  for _, owner in ipairs(call('LRANGE', list, 0, -1)) do
    local till, mode, n, since, note = string.match(call('HGET', KEYS[6], owner) or '', '^(%d+) %d+ (%a) (%d+) (%d+) %d+ (.*)$')
    till = till or (timeouts and call('ZSCORE', timeouts, owner))
    if till and tonumber(till) > now then add(waiters, owner, mode or 'x', tonumber(n or 1), 0, since, tonumber(till) - now, note) end
  end
end

local is_permits = t == 'string' and (call('HGET', KEYS[4], 'k') == 'p' or call('EXISTS', KEYS[9]) == 1)
local is_lock = t == 'hash' and call('HEXISTS', name, 'stock') == 0
if is_lock then
  local all = call('HGETALL', name)
  if call('HEXISTS', name, 'mode') == 1 then rwlock(all) else locks(all) end
elseif is_permits then
  permits(tonumber(call('GET', name)) or 0)
end
line(KEYS[5])
line(KEYS[7], KEYS[8])
if #holders > 0 or #waiters > 0 then
  if ARGV[1] ~= '' and ARGV[1] ~= 'claims' then return false end
  local waits = call('HMGET', KEYS[6], 'k', 'l')
  return {kind or waits[1] or 'f', math.max(limit, tonumber(waits[2] or '1')), tonumber(call('GET', KEYS[3]) or '0'), holders, waiters}
end
if is_lock or is_permits then return false end
--@include survey
