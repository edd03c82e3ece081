-- Reads usage or a ban and changes nothing. KEYS 1 the key. ARGV 1 its kind: usage or ban.
-- Returns Redis' time and the numbers of the hash. A missing number is 0, and so are all numbers of a key of the wrong type.

local FIELDS = { usage = { 'minuteStart', 'minuteCount', 'day', 'dayCount' }, ban = { 'until', 'count' } }
local time = redis.call('TIME')
local reply = { time[1] * 1000 + math.floor(time[2] / 1000) }
local fields = FIELDS[ARGV[1]]
local stored = redis.pcall('HMGET', KEYS[1], unpack(fields))
for i = 1, #fields do
  reply[#reply + 1] = tonumber(stored[i]) or 0
end
return reply
