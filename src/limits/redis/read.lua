-- Reads counts and changes nothing. KEYS 1 the counts.
-- Returns Redis' time and the numbers of the hash. A missing number is 0, and so are all numbers of a key of the wrong type.

local reply = { now }
local stored = peek('HMGET', KEYS[1], 'minuteStart', 'minuteCount', 'day', 'dayCount')
for i = 1, 4 do
  reply[#reply + 1] = tonumber(stored[i]) or 0
end
return reply
