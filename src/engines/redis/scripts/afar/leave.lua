-- KEYS: queue, past.  ARGV: owner.  A claim on a barrier ends; who leaves the line breaks it for the others.  Returns 1 ended, 0 gone.
local call, queue, past, owner = redis.call, KEYS[1], KEYS[2], ARGV[1]
--@include barrier
local place = call('HGET', queue, owner)
if place then
  call('HDEL', queue, string.match(place, '^%d+'), owner)
  conclude((generation()), 'broken')
  return 1
end
return call('HDEL', past, owner)
