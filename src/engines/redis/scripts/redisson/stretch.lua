-- The first write of every refresh: PEXPIRE is allowed at maxmemory, and what follows it then is too. Needs call.
local function stretch(key, ms)
  local left = call('PTTL', key)
  call('PEXPIRE', key, left > ms and left or ms)
end
