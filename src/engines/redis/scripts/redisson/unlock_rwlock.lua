-- KEYS: name, line, places, own lease of reading, own record of writing.  ARGV: owner, Redisson's channel, beginning of lease keys.  Ends a hold of RReadWriteLock, or gives up a place.  Returns 1 hold ended, 2 place given up, 0 gone.
local call, name, list, places, timeouts = redis.call, KEYS[1], KEYS[2], KEYS[3], nil
local owner, base = ARGV[1], ARGV[3]
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
--@include line
--@include readers
local answer, message = 0, nil
if redis.pcall('HDEL', name, owner .. ':write') == 1 then
  call('DEL', KEYS[5])
  if holders() > 0 then call('HSET', name, 'mode', 'read') end
  answer, message = 1, '1'
elseif redis.pcall('HDEL', name, owner) == 1 then
  answer = call('DEL', KEYS[4])
  local left, longest = holders()
  if left == 0 then message = '0'
  elseif longest > 0 then call('PEXPIRE', name, longest) end
end
if call('EXISTS', list) == 1 and leave(owner) then
  if answer == 0 then answer = 2 end
  if front() then message = message or '1' end
end
if message then redis.pcall('PUBLISH', ARGV[2], message) end
return answer
