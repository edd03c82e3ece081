-- Writes counts that are known elsewhere, unless the stored one is newer: windows never move backwards.
--
-- KEYS  1 the hash.
-- ARGV  1 when it expires (Unix milliseconds). Then for each pair of an instant and a count: the name of the instant, its
--       value, the name of the count, its value.

read('HLEN', KEYS[1])
local expiry = math.max(tonumber(ARGV[1]), redis.call('PEXPIRETIME', KEYS[1]))
for i = 2, #ARGV, 4 do
  local stored = redis.call('HMGET', KEYS[1], ARGV[i], ARGV[i + 2])
  local instant, count = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
  local givenInstant, givenCount = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 3])
  if givenInstant > instant or (givenInstant == instant and givenCount > count) then
    redis.call('HSET', KEYS[1], ARGV[i], givenInstant, ARGV[i + 2], givenCount)
  end
end
redis.call('PEXPIREAT', KEYS[1], expiry)
