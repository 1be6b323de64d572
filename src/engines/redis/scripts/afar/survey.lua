-- KEYS: name, queue, token, cell.  ARGV: family claims|cells|stocks or '' (whichever it is).  Read-only.  Returns nil (nothing), {kind, limit, last token, holders, waiters} with {owner, mode, permits, token, since ms, left ms, note} each, or {kind, value} of a cell or stock.
local call, name, queue = redis.call, KEYS[1], KEYS[2]
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local family = ARGV[1]
local t = call('TYPE', name).ok
local function only(which) return family == '' or family == which end

if t == 'hash' then
  local left = call('HGET', name, 'stock')
  if left and only('stocks') then return {'k', left} end
  return false
end
local v = t == 'string' and call('GET', name) or nil
if v and string.find(v, '^%-?%d+$') then
  return only('cells') and {call('HGET', KEYS[4], 'k') or 'c', v} or false
end
if t == 'none' and only('cells') and call('HGET', KEYS[4], 'z') then return {'l', '0'} end
if not only('claims') then return false end

local kind, limit, holders, waiters = nil, 1, {}, {}
local function add(list, owner, mode, n, token, since, left, note)
  if string.byte(note) == 63 then note = string.match(note, '^%?%S+ (.*)$') or note end  -- the channel of a client that it stays with
  list[#list + 1] = {owner, mode, n, token, math.max(now - since, 0), left, note}
end
if v then
  local owner, last, more, k, since, note = string.match(v, '^(%S+:%d+) (%d+) (%d+) (%a) (%-?%d+) (.*)$')
  kind = k or 'm'
  local left = call('PTTL', name)
  since = tonumber(since or now)
  if since < 0 then since = now + since + left end  -- see acquire
  add(holders, owner or '', 'x', 1, (last or 0) - (more or 0), since, left, note or v)
elseif t == 'zset' then
  local of, all = {}, call('ZRANGE', name, 0, -1, 'WITHSCORES')
  local notes = {}
  for i = 1, #all, 2 do
    of[all[i]] = tonumber(all[i + 1])
    local owner, note = string.match(all[i], '^i:(%S+) (.*)$')
    if owner then notes[owner] = note end
  end
  kind = of['=s'] and 's' or 'p'
  limit = -(of['=l'] or -1)
  for i = 1, #all, 2 do
    local owner, till = all[i], of[all[i]]
    if till > 0 and till >= now then
      add(holders, owner, kind, -(of['n:' .. owner] or -1), -(of['t:' .. owner] or 0), -(of['a:' .. owner] or -now), till - now, notes[owner] or '')
    end
  end
end
local places, all = {}, call('HGETALL', queue)
for i = 1, #all, 2 do
  local seq, till, mode, n, since, note = string.match(all[i + 1], '^(%d+) (%d+) %d+ (%a) (%d+) (%d+) %d+ %S+ (.*)$')
  if seq and tonumber(till) > now then places[#places + 1] = {tonumber(seq), all[i], mode, tonumber(n), tonumber(since), till - now, note} end
  if all[i] == 'k' then kind = kind or all[i + 1] end
  if all[i] == 'l' then limit = tonumber(all[i + 1]) end
end
table.sort(places, function(a, b) return a[1] < b[1] end)
for _, p in ipairs(places) do add(waiters, p[2], p[3], p[4], 0, p[5], p[6], p[7]) end
if #holders == 0 and #waiters == 0 then return false end
return {kind, limit, tonumber(call('GET', KEYS[3]) or '0'), holders, waiters}
