-- Ends a ban and forgets the ones before it. KEYS 1 the ban. Gives 1, or 0 when there is none in force.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local banned = (tonumber(redis.call('HGET', KEYS[1], 'until')) or 0) > now
redis.call('DEL', KEYS[1])
return banned and 1 or 0
