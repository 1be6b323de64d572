-- KEYS: names.  ARGV: per name: "<owner> ", lease ms.  Renews holds of which nothing has changed since the script renew looked at them: few words and calls, as very many holds are renewed all the time.  Returns per name 1 renewed, 0 held by nobody or another: renew says why.
local call, out = redis.call, {}
for i, name in ipairs(KEYS) do
  local v = redis.pcall('GET', name)
  if type(v) == 'string' and string.find(v, ARGV[2 * i - 1], 1, true) == 1 then
    call('PEXPIRE', name, ARGV[2 * i])
    out[i] = 1
  else
    out[i] = 0
  end
end
return out
