-- The names of permits, put where steps include "permit": 16 bytes, as Java's, but made from the owner, so that a repeated step finds them.
local function permit(owner, i)
  local hex = string.sub(redis.sha1hex(owner .. ' ' .. i), 1, 32)
  return (string.gsub(hex, '..', function(h) return string.char(tonumber(h, 16)) end))
end
