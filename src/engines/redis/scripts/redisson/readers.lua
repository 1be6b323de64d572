-- Who holds a RReadWriteLock, put where steps include "readers". Needs call, name and base. The hash says mode, <owner> -> reads, <owner>:write -> writes; the key base .. field .. ':rwlock_timeout:' .. i is the lease of one read. Ours hold "token since last note", Java's "1".
local function lease_key(field, i) return base .. field .. ':rwlock_timeout:' .. i end
local function writes(field) return string.sub(field, -6) == ':write' end

-- Drops the readers whose leases are over. How many holders there are, and the longest lease of a reader.
local function holders()
  local n, longest, all = 0, 0, call('HGETALL', name)
  for i = 1, #all, 2 do
    local field, live = all[i], writes(all[i])
    if field ~= 'mode' then
      for k = 1, live and 0 or tonumber(all[i + 1]) do
        local left = call('PTTL', lease_key(field, k))
        live = live or left ~= -2
        longest = math.max(longest, left)
      end
      if live then n = n + 1 else call('HDEL', name, field) end
    end
  end
  if n == 0 and #all > 0 then call('DEL', name) end
  return n, longest
end
