-- KEYS: names.  ARGV: per name "<owner> "; then the lease in ms, one for all or one per name.  Renews holds of which nothing has changed since the script renew looked at them: few words and calls, as very many holds are renewed all the time.  Returns the numbers, from 1 and in order, of the names that were not renewed, as nobody or another holds them: renew says why.
local call, out, many = redis.call, {}, #KEYS
local values = call('MGET', unpack(KEYS))  -- what is no string is nil
local last = #ARGV - many
for i, name in ipairs(KEYS) do
  local v = values[i]
  if v and string.find(v, ARGV[i], 1, true) == 1 then
    call('PEXPIRE', name, ARGV[many + (last == 1 and 1 or i)])
  else
    out[#out + 1] = i
  end
end
return out
