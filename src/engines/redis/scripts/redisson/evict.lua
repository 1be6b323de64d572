-- KEYS: name, token, past, line of a fair lock, own lease of reading, own record of writing, timeouts of permits, holders.  ARGV: owner, token (0: a hold of Java's), permits' channel, channel of read-write locks, of locks, watchers' channel or '', beginning of lease keys.  Ends the hold of that owner with that token and burns one token, so that a fence can be raised.  Returns 1 ended, now or when this was asked before, 0 no such hold.
local call, name, tkey, owner, wanted, base = redis.call, KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), ARGV[7]
--@include token
--@include stretch
--@include readers
--@include permit
local function is(token) return (token and tonumber(token) or 0) == wanted end
local function of(key) return string.match(call('GET', key) or '', '^(%d+) ') end

local function lock()
  if call('HEXISTS', name, owner) == 0 or not is(string.match(call('HGET', name, 'afar') or '', '^%d+')) then return end
  local left = call('PTTL', name)
  call('DEL', name)
  redis.pcall('PUBLISH', ARGV[5], '0')
  local first = call('LINDEX', KEYS[4], 0)
  if first then redis.pcall('PUBLISH', ARGV[5] .. ':' .. first, '0') end
  return left
end

local function rwlock()
  local field, key = owner, KEYS[5]
  if call('HEXISTS', name, owner .. ':write') == 1 then field, key = owner .. ':write', KEYS[6] end
  local reads = call('HGET', name, field)
  if not reads or not is(of(key)) then return end
  local left = math.max(call('PTTL', key), writes(field) and call('PTTL', name) or 0)
  call('HDEL', name, field)
  for i = 1, tonumber(reads) do call('DEL', lease_key(field, i)) end
  if holders() > 0 and writes(field) then call('HSET', name, 'mode', 'read') end
  redis.pcall('PUBLISH', ARGV[4], '1')
  return left
end

local function permits()
  local token, n = string.match(call('HGET', KEYS[8], owner) or '', '^(%d+) (%d+) ')
  local till = call('ZSCORE', KEYS[7], permit(owner, 1))
  if not token or not till or not is(token) then return end
  local back = 0
  for i = 1, tonumber(n) do back = back + call('ZREM', KEYS[7], permit(owner, i)) end
  call('HDEL', KEYS[8], owner)
  redis.pcall('PUBLISH', ARGV[3], call('INCRBY', name, back))
  return tonumber(till) - now
end

-- Asked again because the answer was lost.
if string.match(call('HGET', KEYS[3], owner) or '', '^evicted (%d+) ') == ARGV[2] then return 1 end
local t, left = call('TYPE', name).ok, nil
if t == 'hash' and call('HEXISTS', name, 'mode') == 1 then left = rwlock()
elseif t == 'hash' then left = lock()
elseif t == 'string' then left = permits() end
if not left then return 0 end
left = math.max(left, 120000)  -- as long as anybody may ask again
call('HSET', KEYS[3], owner, 'evicted ' .. ARGV[2] .. ' ' .. text(now + left))
stretch(KEYS[3], left)
mint(0)
if ARGV[6] ~= '' then redis.pcall('PUBLISH', ARGV[6], '') end
return 1
