-- KEYS: name, line, places, timeouts of permits, holders.  ARGV: owner, permits, Redisson's channel.  Gives permits of RPermitExpirableSemaphore back, or gives up a place.  Returns 1 hold ended, 2 place given up, 0 gone.
local call, name, list, places, due, timeouts = redis.call, KEYS[1], KEYS[2], KEYS[3], KEYS[4], nil
local owner = ARGV[1]
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
--@include line
--@include permit
local answer, back = 0, 0
for i = 1, tonumber(ARGV[2]) do
  local id = permit(owner, i)
  local till = redis.pcall('ZSCORE', due, id)
  if type(till) == 'string' then
    back = back + call('ZREM', due, id)
    if tonumber(till) >= now then answer = 1 end
  end
end
call('HDEL', KEYS[5], owner)
local free
if back > 0 and call('EXISTS', name) == 1 then free = call('INCRBY', name, back) end
if call('EXISTS', list) == 1 and leave(owner) then
  if answer == 0 then answer = 2 end
  if front() then free = free or redis.pcall('GET', name) end
end
if tonumber(free) then redis.pcall('PUBLISH', ARGV[3], free) end
return answer
