-- Ends a ban and forgets the ones before it. KEYS 1 the ban. Gives 1, or 0 when there is none in force.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- What the command gives for a key of the wrong type is no number.
local ending = redis.pcall('HGET', KEYS[1], 'until')
local banned = type(ending) == 'string' and (tonumber(ending) or 0) > now
redis.call('DEL', KEYS[1])
return banned and 1 or 0
