-- Reads without taking anything. KEYS 1 the usage of a caller, or a ban. ARGV 1 which of the two: usage or ban.
-- Gives Redis' time, and the numbers of the hash; what is missing is 0.

local FIELDS = { usage = { 'minuteStart', 'minuteCount', 'day', 'dayCount' }, ban = { 'until', 'count' } }
local time = redis.call('TIME')
local reply = { time[1] * 1000 + math.floor(time[2] / 1000) }
for _, value in ipairs(redis.call('HMGET', KEYS[1], unpack(FIELDS[ARGV[1]]))) do
  reply[#reply + 1] = tonumber(value) or 0
end
return reply
