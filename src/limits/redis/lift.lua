-- Ends a ban and forgets earlier ones. KEYS 1 the ban. Returns 1, or 0 if there is no ban in force.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- For a key of the wrong type the reply is not a string.
local ending = redis.pcall('HGET', KEYS[1], 'until')
local banned = type(ending) == 'string' and (tonumber(ending) or 0) > now
redis.call('DEL', KEYS[1])
return banned and 1 or 0
