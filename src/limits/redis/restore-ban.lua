-- Writes a ban that is known elsewhere. A call can be repeated. If the ban began elsewhere, the later end and the higher count
-- win, so several instances that banned a key in one outage count as one ban. If Redis once said it, the later end wins with
-- its own count, because an operator may have lifted earlier bans since.
--
-- KEYS  1 the ban.
-- ARGV  1 its end, 2 its count, 3 when it began elsewhere, or 0 if Redis said it.

local ending, count, began = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

local stored = read('HMGET', KEYS[1], 'until', 'count')
local storedEnding, storedCount = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
if began > 0 then
  -- The stored ban was over before this one began, so this one is the next of the series.
  if storedEnding > 0 and storedEnding <= began and began - storedEnding < DAY then storedCount = storedCount + 1 end
  ending, count = math.max(ending, storedEnding), math.max(count, storedCount)
elseif storedEnding > ending or (storedEnding == ending and storedCount > count) then
  ending, count = storedEnding, storedCount
end
redis.call('HSET', KEYS[1], 'until', ending, 'count', count)
redis.call('PEXPIREAT', KEYS[1], ending + DAY)
