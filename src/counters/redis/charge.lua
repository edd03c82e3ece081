-- Takes one request from both windows of a caller, or from neither; counts refusals and bans. One atomic step.
-- The rule is that of src/domain/quota.ts and src/domain/ban.ts; a test compares the two on random histories.
--
-- KEYS  1 usage of the caller; and for an API key 2 its refusals, 3 its ban. All in one hash slot.
-- ARGV  1 requests per minute, 2 per day, 3 refusals before a ban, 4 milliseconds of a first ban,
--       5-8 the usage as the calling instance knows it: start of the minute, count, day, count.
-- Gives verdict (1 admitted, 0 refused, 2 banned), now, start of the minute, count, day, count, refusals, ban's end, its number.

local MINUTE, DAY = 60000, 86400000
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local arg = {}
for i, value in ipairs(ARGV) do arg[i] = tonumber(value) end

local stored = redis.call('HMGET', KEYS[1], 'minuteStart', 'minuteCount', 'day', 'dayCount')
local start, minute = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
local day, count = tonumber(stored[3]) or 0, tonumber(stored[4]) or 0

-- A server that lost its memory is told what the instances remember: of two accounts of a window the fuller is true.
if arg[5] > start or (arg[5] == start and arg[6] > minute) then start, minute = arg[5], arg[6] end
if arg[7] > day or (arg[7] == day and arg[8] > count) then day, count = arg[7], arg[8] end

-- A clock that was set back must not stretch the minute.
local setBack = start > now
if setBack then start = now end
if now - start >= MINUTE then start, minute = now, 0 end
local today = math.floor(now / DAY)
if today > day then day, count = today, 0 end

local banUntil, banCount, refusals = 0, 0, 0
if KEYS[3] then
  local ban = redis.call('HMGET', KEYS[3], 'until', 'count')
  banUntil, banCount = tonumber(ban[1]) or 0, tonumber(ban[2]) or 0
end

local function keep()
  redis.call('HSET', KEYS[1], 'minuteStart', start, 'minuteCount', minute, 'day', day, 'dayCount', count)
  redis.call('PEXPIREAT', KEYS[1], (day + 1) * DAY + MINUTE)
end

local verdict
if banUntil > now then
  verdict = 2
elseif minute < arg[1] and count < arg[2] then
  verdict = 1
  if minute == 0 then start = now end
  minute, count = minute + 1, count + 1
  keep()
else
  verdict = 0
  if setBack then keep() end
  if KEYS[2] then
    local oldest = redis.call('LINDEX', KEYS[2], 0)
    while oldest and math.abs(now - oldest) >= MINUTE do
      redis.call('LPOP', KEYS[2])
      oldest = redis.call('LINDEX', KEYS[2], 0)
    end
    refusals = redis.call('RPUSH', KEYS[2], now)
    if refusals >= arg[3] then
      redis.call('DEL', KEYS[2])
      banCount = (banUntil > 0 and now - banUntil < DAY) and banCount + 1 or 1
      local duration = math.min(arg[4] * 2 ^ (banCount - 1), DAY)
      banUntil, verdict = now + duration, 2
      redis.call('HSET', KEYS[3], 'until', banUntil, 'count', banCount)
      redis.call('PEXPIREAT', KEYS[3], banUntil + DAY)
    else
      redis.call('PEXPIRE', KEYS[2], MINUTE)
    end
  end
end

return { verdict, now, start, minute, day, count, refusals, banUntil, banCount }
