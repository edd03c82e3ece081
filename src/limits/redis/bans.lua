-- Reads bans and changes nothing. KEYS the bans, all in one hash slot.
-- Returns Redis' time, then the end and the count of each ban: 0 if there is none, also for a key of the wrong type.

local reply = { now }
for _, key in ipairs(KEYS) do
  local stored = peek('HMGET', key, 'until', 'count')
  reply[#reply + 1] = tonumber(stored[1]) or 0
  reply[#reply + 1] = tonumber(stored[2]) or 0
end
return reply
