-- Ends a ban and forgets earlier ones. KEYS 1 the ban. Returns 1, or 0 if there is no ban in force.

local banned = (tonumber((peek('HGET', KEYS[1], 'until'))) or 0) > now
redis.call('DEL', KEYS[1])
return banned and 1 or 0
