-- What became of a claim that neither holds nor waits, put where renewals include "past". Needs call, now and stretch. 1 passed (a barrier's: what it knows is kept for w ms more), 0 expired, -1 evicted.
local function became(past, owner, w)
  local known = call('HGET', past, owner)
  local what = known and string.match(known, '^%a+')
  if what ~= 'passed' then return what == 'evicted' and -1 or 0 end
  stretch(past, w)
  local till = math.max(tonumber(string.match(known, '%d+$')), now + w)
  call('HSET', past, owner, (string.gsub(known, '%d+$', string.format('%d', till))))
  return 1
end
