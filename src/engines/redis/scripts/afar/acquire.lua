-- KEYS: name, queue, token.  ARGV: owner, lease ms, tokens to take (0: not by the short way), moment in us that tokens must not be older than (the client's clock less half a day, or when it was connected by the server's clock), "<tokens to reserve> <kind> -<lease> <note>" (a hold that stays with its client: "?<its channel> " before the note), "<mode x|s|p> <token held or 0> <waiter's lease ms, 0: does not queue> <permits> <limit> <client's channel> <watchers' channel or ''>".  Returns the last token reserved if granted at once; else {1, token, last token} granted or already mine, {0, retry ms, newest token} refused (behind them 1: its holder was asked for it), {2, why} the hold to convert is gone; error AFARUSE.
local call, name, queue, tkey = redis.call, KEYS[1], KEYS[2], KEYS[3]
if ARGV[3] ~= '0' and call('EXISTS', name, queue) == 0 then
  -- Nobody holds, nobody waits: all that follows costs more than this step, even if it only defines functions. Few words, few calls: this is most of what the server does.
  local last = call('INCRBY', tkey, ARGV[3])
  local after = last - ARGV[4]
  if after < 0 or last < 1500000000000000 or after > 86400000000 then  -- a new key, one that may end before long (also because its tokens run ahead of the clock), or one of before a restart or a promotion, which may have forgotten the newest
    local clock = call('TIME')
    last = math.max(clock[1] * 1000000 + clock[2] + ARGV[3], last)
    call('SET', tkey, string.format('%d', last), 'PX', 172800000)
  end
  call('SET', name, ARGV[1] .. string.format(' %d ', last) .. ARGV[5], 'PX', ARGV[2])
  return last
end
local clock = call('TIME')
local us = clock[1] * 1000000 + clock[2]
local owner, lease = ARGV[1], tonumber(ARGV[2])
local more, kind, note = string.match(ARGV[5], '^(%d+) (%a) %-%d+ (.*)$')
local mode, mine, w, n, limit, channel, watchers = string.match(ARGV[6], '^(%a) (%d+) (%d+) (%d+) (%d+) (%S+) (.*)$')
if string.byte(note) == 63 and mine == '0' then
  if call('EXISTS', name, queue) == 0 then
    -- It may stay with its client, who takes it again without us: with one token for each microsecond since the last one, so that none is ahead of the clock.
    local last = tonumber(call('GET', tkey) or '0')
    local token = last + 1
    if last < tonumber(ARGV[4]) then token = math.max(token, us) end
    last = math.max(token, math.min(token + more, us))
    call('SET', tkey, string.format('%d', last), 'PX', 172800000)
    call('SET', name, string.format('%s %d %d %s -%d ', owner, last, last - token, kind, lease) .. note, 'PX', lease)
    return {1, token, last}
  end
  more = '64'  -- others want it, or did
end
-- Asks the client with which a hold stays for it. (The first look is cheap, the pattern is not.)
local function ask(v)
  if not string.find(v, ' ?', 1, true) then return end
  local who, to = string.match(v, '^(%S+:%d+) %d+ %d+ m %-?%d+ %?(%S+) ')
  if to then redis.pcall('PUBLISH', to, who .. ' ?') end
  return to and 1
end
if ARGV[3] ~= '0' and w ~= '0' then
  -- One of the same kind holds it and nothing can be granted: a place in line, in few words again.
  local v = redis.pcall('GET', name)
  local who, newest, of = string.match(type(v) == 'string' and v or '', '^(%S+:%d+) (%d+) %d+ (%a) ')
  if of == kind and who ~= owner then
    local q = call('HMGET', queue, owner, 'h', 'k', 'l', 'n', 't')
    if not q[3] or (q[3] == kind and q[4] == limit) then
      local now = math.floor(us / 1000)
      local till, lasts = now + w, tonumber(q[6] or '0')  -- how long the key of the line lasts at least
      if q[1] or lasts < till then  -- who stands in line already must not be refused at maxmemory
        local left = call('PTTL', queue)
        lasts = now + math.max(left, math.floor(w * 1.25))  -- seldom: not with every one that comes
        if left > -2 then call('PEXPIRE', queue, lasts - now) end  -- the first write: allowed at maxmemory
      end
      local seq, since = string.match(q[1] or '', '^(%d+) %d+ %d+ %a %d+ (%d+) ')
      local last = q[5] or '0'
      if not seq then
        seq = string.format('%d', last + 1)
        last = seq
      end
      call('HSET', queue, 'k', kind, 'l', limit, 'n', last, 't', string.format('%d', lasts), seq, owner, owner,
        string.format('%s %d %s %s %s %s %s %s ', seq, till, w, mode, n, since or string.format('%d', now), more, channel) .. note)
      if not q[5] then call('PEXPIRE', queue, lasts - now) end
      local retry = math.floor(w / 3)
      if seq == (q[2] or '1') then  -- only the front watches the holder's clock
        local left = call('PTTL', name)
        if left >= 0 and left + 1 < retry then retry = left + 1 end
      end
      ask(v)
      return {0, math.max(retry, 1), tonumber(newest)}
    end
  end
end
--@include line
more, mine, w, n, limit = tonumber(more), tonumber(mine), tonumber(w), tonumber(n), tonumber(limit)
-- Of the same slot as the keys that are named; seldom needed, and a word costs the server something each time.
local tag = string.sub(queue, 12)
local past_key, cell_key = 'afar:past:' .. tag, 'afar:cell:' .. tag
local bad = look(cell_key)
if bad then return bad end

if held == 'x' and holder.owner == owner then
  local token = math.max(holder.token, mine)
  local last = math.max(holder.last, token)
  if mine > 0 and mode == 's' then
    call('DEL', name)
    held = nil
    give(owner, kind, 's', n, limit, lease, note, 0, token)
    advance()
    tell(watchers)
    return {1, token, token}
  end
  stretch(name, lease)
  write(owner, token, holder.kind, holder.since, last, note)
  changed = note ~= holder.note
  tell(watchers)
  return {1, token, last}
end
local score = (held == 's' or held == 'p') and call('ZSCORE', name, 't:' .. owner)
if score then
  local token = -tonumber(score)
  if mine > 0 and mode == 'x' then
    if used > 1 then return {0, 0, newest()} end
    drop(owner)
    local t, last = give(owner, kind, 'x', n, limit, lease, note, more)
    tell(watchers)
    return {1, t, last}
  end
  stretch(name, lease)
  call('ZADD', name, 'GT', now + lease, owner)
  return {1, token, token}
end
if mine > 0 then
  local past = call('HGET', past_key, owner)
  return {2, past and string.match(past, '^%a+') or 'expired'}
end

bad = check(kind, limit)
if bad then return bad end
local place = call('HGET', queue, owner)
if place and w == 0 then
  call('HDEL', queue, string.match(place, '^%d+'), owner)
  place = nil
end
if not place then
  advance()
  if not front() and can(mode, n, limit) then
    local t, last = give(owner, kind, mode, n, limit, lease, note, more)
    tell(watchers)
    return {1, t, last}
  end
  if w == 0 then
    tell(watchers)
    return {0, math.max(call('PTTL', name), 0), newest(), held == 'x' and ask(call('GET', name)) or 0}
  end
end

if place then stretch(queue, w) end
local seq, since = string.match(place or '', '^(%d+) %d+ %d+ %a %d+ (%d+) ')
seq = seq or string.format('%d', call('HINCRBY', queue, 'n', 1))
call('HSET', queue, 'k', kind, 'l', text(limit), seq, owner, owner,
  string.format('%s %d %d %s %d %s %d %s ', seq, now + w, w, mode, n, since or text(now), more, channel) .. note)
if not place then stretch(queue, w) end
head = nil  -- the queue may be a new one
local t, last = advance(owner, lease)
tell(watchers)
if t then return {1, t, last} end
local retry = math.floor(w / 3)
if tonumber(seq) == head then  -- only the front watches the holder's clock
  local left = call('PTTL', name)
  if held == 'p' then
    local first = call('ZRANGEBYSCORE', name, '(0', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if first[2] then left = tonumber(first[2]) - now end
  end
  if left >= 0 and left + 1 < retry then retry = left + 1 end
end
if held == 'x' then ask(call('GET', name)) end
return {0, math.max(retry, 1), newest()}
