-- Reads bans and changes nothing. KEYS the bans, all in one hash slot.
-- Returns Redis' time, then the end and the count of each ban: 0 if there is none, also for a key of the wrong type.

local time = redis.call('TIME')
local reply = { time[1] * 1000 + math.floor(time[2] / 1000) }
for _, key in ipairs(KEYS) do
  local stored = redis.pcall('HMGET', key, 'until', 'count')
  reply[#reply + 1] = tonumber(stored[1]) or 0
  reply[#reply + 1] = tonumber(stored[2]) or 0
end
return reply
