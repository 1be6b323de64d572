-- KEYS: name, orders, buyers, due, queue, cell.  ARGV: action, amount, order, buyer, units per buyer, hold ms, opens ms or '', closes ms or '', client or '', its number, its settled numbers end here.  One step on a stock.  Returns {outcome, remaining, reserved, taken} as text; error AFARUSE, AFAROVERFLOW, AFARARGUMENT <why>.
local call, name, orders, buyers, due = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local action, amount, order, buyer = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
--@include numbers
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local t = call('TYPE', name).ok
if t == 'none' then
  local waits = call('HMGET', KEYS[5], 'k', 'l')
  if waits[1] then return redis.error_reply('AFARUSE ' .. waits[1] .. ' ' .. waits[2]) end
  if call('HGET', KEYS[6], 'z') then return redis.error_reply('AFARUSE l 1') end
elseif t == 'string' then
  local v = call('GET', name)
  local is = string.match(v, '^%S+:%d+ %d+ %d+ (%a) ') or 'm'
  if string.find(v, '^%-?%d+$') then is = call('HGET', KEYS[6], 'k') or 'c' end
  return redis.error_reply('AFARUSE ' .. is .. ' 1')
elseif t == 'zset' then
  local limit = call('ZSCORE', name, '=l')
  return redis.error_reply('AFARUSE ' .. (limit and 'p ' .. string.sub(limit, 2) or 's 1'))
elseif t ~= 'hash' or call('HEXISTS', name, 'stock') == 0 then
  return redis.error_reply('AFARUSE ' .. (t ~= 'hash' and t or call('HEXISTS', name, 'mode') == 1 and 's' or 'm') .. ' 1')
end
local exists = t == 'hash'

local function bump(field, by) call('HINCRBY', name, field, by) end
local function minus(n) return string.sub(n, 1, 1) == '-' and string.sub(n, 2) or (n == '0' and n or '-' .. n) end

-- Whether remaining + more + reserved + taken still has 64 bits; with this no other sum here overflows.
local function addable(remaining, more)
  call('HSET', name, 'sum', remaining)
  local fits = true
  for _, n in ipairs({more, call('HGET', name, 'reserved') or '0', call('HGET', name, 'taken') or '0'}) do
    fits = fits and type(redis.pcall('HINCRBY', name, 'sum', n)) ~= 'table'
  end
  call('HDEL', name, 'sum')
  return fits
end

-- An order is "state amount until buyer"; state t taken, r reserved, b back, e expired.
local function find(id)
  local o = call('HGET', orders, id)
  if not o then return nil end
  return string.match(o, '^(%a) (%d+) (%d+) (.*)$')
end

local function give_back(id, state, n, who, as)
  if state == 'r' then call('ZREM', due, id) end
  bump(state == 'r' and 'reserved' or 'taken', minus(n))
  bump('stock', n)
  call('HINCRBY', buyers, who, minus(n))
  if call('HGET', buyers, who) == '0' then call('HDEL', buyers, who) end
  call('HSET', orders, id, as .. ' ' .. n .. ' 0 ' .. who)
end

local function return_due(most)
  if not exists then return end
  for _, id in ipairs(call('ZRANGEBYSCORE', due, '-inf', string.format('(%d', now), 'LIMIT', 0, most)) do
    local state, n, _, who = find(id)
    if state == 'r' then give_back(id, state, n, who, 'e') else call('ZREM', due, id) end
  end
end

local repeated
local function answer(outcome)
  if not exists then return {outcome, '0', '0', '0'} end
  local v = call('HMGET', name, 'stock', 'reserved', 'taken')
  return {outcome, repeated or v[1], v[2] or '0', v[3] or '0'}
end

local client = ARGV[9]
local function remembered()
  if client == '' or not exists then return false end
  repeated = string.match(call('HGET', name, 'c:' .. client) or '', ';' .. ARGV[10] .. ',(%d+);')
  return repeated ~= nil
end
local function remember()
  if client == '' then return end
  local kept = ';'
  for number, left in string.gmatch(call('HGET', name, 'c:' .. client) or '', '(%d+),(%d+);') do
    if tonumber(number) >= tonumber(ARGV[11]) then kept = kept .. number .. ',' .. left .. ';' end
  end
  call('HSET', name, 'c:' .. client, kept .. ARGV[10] .. ',' .. call('HGET', name, 'stock') .. ';')
end

return_due(action == 'load' and -1 or 64)
if action == 'define' then
  if less(amount, '0') then return redis.error_reply('AFARARGUMENT a stock of less than nothing') end
  if remembered() then return answer('done') end
  if exists and not addable(amount, '0') then return redis.error_reply('AFAROVERFLOW 64 bits') end
  exists = true
  call('HSET', name, 'stock', amount, 'share', ARGV[5], 'opens', ARGV[7], 'closes', ARGV[8])
  call('HSET', orders, '', '')  -- no order has this id; makes the key, by which stocks are found
  remember()
  return answer('done')
end
if action == 'erase' then
  call('DEL', name, orders, buyers, due)
  exists = false
  return answer('done')
end
if not exists then return answer('no_such_stock') end
if action == 'load' then return answer('done') end

local stock = call('HGET', name, 'stock')
if action == 'restock' then
  if remembered() then return answer('done') end
  if less(amount, '0') then
    if less(stock, minus(amount)) then
      return_due(-1)
      stock = call('HGET', name, 'stock')
    end
    if less(stock, minus(amount)) then return answer('sold_out') end
  elseif not addable(stock, amount) then
    return redis.error_reply('AFAROVERFLOW 64 bits')
  end
  bump('stock', amount)
  remember()
  return answer('done')
end

local state, n, till, who = find(order)
if state == 'r' and tonumber(till) < now then
  give_back(order, state, n, who, 'e')
  state = 'e'
end

if action == 'take' or action == 'reserve' then
  if not less('0', amount) then return redis.error_reply('AFARARGUMENT an order of nothing') end
  if order == '' then return redis.error_reply('AFARARGUMENT an order without an id') end
  if action == 'reserve' and tonumber(ARGV[6]) <= 0 then return redis.error_reply('AFARARGUMENT a reservation without a time') end
  local wanted = action == 'take' and 't' or 'r'
  if state then return answer(state == wanted and n == amount and who == buyer and 'done' or 'already_taken') end
  local head = call('HMGET', name, 'opens', 'closes', 'share')
  if head[1] and head[1] ~= '' and now < tonumber(head[1]) then return answer('not_open_yet') end
  if head[2] and head[2] ~= '' and now >= tonumber(head[2]) then return answer('closed') end
  local share = tonumber(head[3] or '0')
  local function refusal()
    if share > 0 and tonumber(amount) > share - tonumber(call('HGET', buyers, buyer) or '0') then return 'limit_reached' end
    if less(call('HGET', name, 'stock'), amount) then return 'sold_out' end
  end
  if refusal() then
    return_due(-1)  -- before anything is refused, all that is due comes back
    local why = refusal()
    if why then return answer(why) end
  end
  bump('stock', minus(amount))
  local ends = '0'
  if wanted == 'r' then
    ends = string.format('%d', now + tonumber(ARGV[6]))
    bump('reserved', amount)
    call('ZADD', due, ends, order)
  else
    bump('taken', amount)
  end
  call('HSET', orders, order, wanted .. ' ' .. amount .. ' ' .. ends .. ' ' .. buyer)
  call('HINCRBY', buyers, buyer, amount)
  return answer('done')
end

if not state then return answer('no_such_order') end
if state == 'e' then return answer('expired') end
if action == 'commit' then
  if state == 't' then return answer('done') end
  if state == 'b' then return answer('already_taken') end
  call('ZREM', due, order)
  call('HSET', orders, order, 't ' .. n .. ' 0 ' .. who)
  bump('reserved', minus(n))
  bump('taken', n)
  return answer('done')
end
if state == 'b' then return answer('done') end
if action == 'cancel' and state ~= 'r' then return answer('already_taken') end
if action == 'put_back' and state ~= 't' then return answer('no_such_order') end
give_back(order, state, n, who, 'b')
return answer('done')
