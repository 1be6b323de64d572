-- KEYS: name, token, past, cell, queue, line, places, own lease of reading, own record of writing.  ARGV: owner, mode x|s, lease ms, waiter's lease ms (0: does not queue), tokens to reserve, token held (0: none; else the hold is converted), Redisson's channel, beginning of lease keys, note.  RReadWriteLock, in which waiting writers of afar keep later readers of afar out.  Returns as lock does.
local call, name, tkey, cell, queue, list, places = redis.call, KEYS[1], KEYS[2], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local reading, writing, timeouts = KEYS[8], KEYS[9], nil
local owner, mode, lease, w, mine, base, note = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[6]), ARGV[8], ARGV[9]
local field = owner .. ':write'
--@include token
--@include stretch
--@include use
--@include line
--@include stand
--@include readers
local function newest() return tonumber(call('GET', tkey) or '0') end

local function put(key, token, last)
  call('SET', key, string.format('%d %d %d ', token, now, last) .. note, 'PX', lease)
  return {1, token, last}
end
local function read(token)
  call('HSET', name, 'mode', 'read', owner, '1')
  stretch(name, lease)
  return put(reading, token, token)
end
local function write()
  local token, last = mint(tonumber(ARGV[5]))
  call('HSET', name, 'mode', 'write', field, '1')
  call('PEXPIRE', name, ARGV[3])
  return put(writing, token, last)
end
-- A hold that is there already: its lease is renewed.
local function keep(key)
  stretch(key, lease)
  stretch(name, lease)
  local token, last = string.match(call('GET', key) or '', '^(%d+) %d+ (%d+) ')
  return {1, tonumber(token), tonumber(last)}
end

local is, of = used_as()
if is and is ~= 's' then return wrong(is, of) end
local writer = is and call('HEXISTS', name, field) == 1 and call('EXISTS', writing) == 1
local reader = is and call('HEXISTS', name, owner) == 1 and call('EXISTS', reading) == 1
if writer then
  if mine == 0 or mode == 'x' then return keep(writing) end
  call('HDEL', name, field)
  call('DEL', writing)
  redis.pcall('PUBLISH', ARGV[7], '1')
  return read(mine)
end
if reader then
  if mine == 0 or mode == 's' then return keep(reading) end
  if holders() > 1 then return {0, 0, newest()} end
  call('HDEL', name, owner)
  call('DEL', reading)
  return write()
end
if mine > 0 then
  local past = call('HGET', KEYS[3], owner)
  return {2, past and string.match(past, '^%a+') or 'expired'}
end
if not is then
  is, of = line_kind('s', '1')
  if is then return wrong(is, of) end
end

local free, blocked
if mode == 'x' then
  free, blocked = holders() == 0, behind(owner)
else
  free = call('HGET', name, 'mode') ~= 'write'
  blocked = behind(owner, function(other) return other == 's' end)
end
if free and not blocked then
  leave(owner)
  if mode == 'x' then return write() end
  local token = mint(0)
  return read(token)
end
if w == 0 then
  leave(owner)
  return {0, math.max(call('PTTL', name), 0), newest()}
end
stand(owner, 's', '1', w, mode, 1, note)
return {0, pause(owner, w, call('PTTL', name)), newest()}
