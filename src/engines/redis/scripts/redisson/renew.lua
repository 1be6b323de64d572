-- KEYS: per claim: name, token, past, places, first and second key of its kind (f: line, timeouts; s: own lease of reading, own record of writing; p: timeouts of permits, holders).  ARGV: per claim: owner, kind, mode x|s|p, lease ms, waiter's lease ms, permits, token, watchers' channel or '', note.  Returns per claim 1 renewed (a waiter: its place is kept; a barrier's: it has passed), 0 expired, -1 evicted. Never creates, never shortens.
local call, tkey = redis.call, nil
--@include token
--@include stretch
--@include permit
--@include past

local function locked(k, a)
  local name, owner, token, note = KEYS[k], ARGV[a], ARGV[a + 6], ARGV[a + 8]
  if redis.pcall('HEXISTS', name, owner) ~= 1 then return false end
  stretch(name, tonumber(ARGV[a + 3]))
  local was, kind, since, last, old = string.match(call('HGET', name, 'afar') or '', '^(%d+) (%a) (%d+) (%d+) (.*)$')
  if was and (note ~= old or tonumber(token) > tonumber(was)) then
    if tonumber(token) < tonumber(was) then token = was end
    if tonumber(last) < tonumber(token) then last = token end
    call('HSET', name, 'afar', table.concat({token, kind, since, last, note}, ' '))
    if note ~= old and ARGV[a + 7] ~= '' then redis.pcall('PUBLISH', ARGV[a + 7], '') end
  end
  return true
end

local function shared(k, a)
  local name, field, key, lease = KEYS[k], ARGV[a], KEYS[k + 4], tonumber(ARGV[a + 3])
  if ARGV[a + 2] == 'x' then field, key = field .. ':write', KEYS[k + 5] end
  if redis.pcall('HEXISTS', name, field) ~= 1 or call('EXISTS', key) == 0 then return false end
  stretch(key, lease)
  stretch(name, lease)
  return true
end

local function permitted(k, a)
  local owner, due, lease = ARGV[a], KEYS[k + 4], tonumber(ARGV[a + 3])
  local till = redis.pcall('ZSCORE', due, permit(owner, 1))
  if type(till) ~= 'string' or tonumber(till) < now then return false end
  stretch(KEYS[k + 5], lease)
  for i = 1, tonumber(ARGV[a + 5]) do call('ZADD', due, 'XX', 'GT', text(now + lease + 1), permit(owner, i)) end
  return true
end

local function waits(k, a)
  local places, owner, w = KEYS[k + 3], ARGV[a], tonumber(ARGV[a + 4])
  local place = call('HGET', places, owner)
  if not place then return false end
  stretch(places, w)
  call('HSET', places, owner, string.format('%d %d ', now + w, w) .. string.match(place, '^%d+ %d+ (.*)$'))
  if ARGV[a + 1] == 'f' then
    local score = call('ZSCORE', KEYS[k + 5], owner)
    if score and tonumber(score) < now + w then call('ZADD', KEYS[k + 5], text(now + w), owner) end
  end
  return true
end

local holds = {s = shared, p = permitted}
local out = {}
for i = 1, #KEYS / 6 do
  local k, a = 6 * i - 5, 9 * i - 8
  tkey = KEYS[k + 1]
  if (holds[ARGV[a + 1]] or locked)(k, a) then
    keep_token()
    out[i] = 1
  elseif waits(k, a) then
    out[i] = 1
  else
    out[i] = became(KEYS[k + 2], ARGV[a], tonumber(ARGV[a + 4]))
  end
end
return out
