-- Writes a ban that is known elsewhere. Of two bans at the same time, the later end and the higher count win. So several
-- instances that banned a key in one outage count as one ban, and a call can be repeated.
--
-- KEYS  1 the ban.
-- ARGV  1 its end, 2 its count, 3 when it began, or 0 if that is not known.

local DAY = 86400000
local ending, count, began = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

-- A key of the wrong type is replaced.
if type(redis.pcall('HLEN', KEYS[1])) == 'table' then redis.call('DEL', KEYS[1]) end

local stored = redis.call('HMGET', KEYS[1], 'until', 'count')
local storedEnding, storedCount = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
-- The stored ban was over before this one began, so this one is the next of the series.
if storedEnding > 0 and storedEnding <= began and began - storedEnding < DAY then storedCount = storedCount + 1 end
ending = math.max(ending, storedEnding)
redis.call('HSET', KEYS[1], 'until', ending, 'count', math.max(count, storedCount))
redis.call('PEXPIREAT', KEYS[1], ending + DAY)
