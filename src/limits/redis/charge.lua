-- Takes each request from both windows of its caller, or from neither, and counts refusals and bans. One atomic step.
-- The rule is the same as in src/limits/quota.ts and ban.ts. A test compares the two on random histories.
--
-- Consecutive requests of one caller are one group.
-- KEYS  Three for each group: counts, refusals and ban of an API key; for any other caller three times its counts. All in one
--       hash slot.
-- ARGV  1 refusals before a ban, 2 milliseconds of a first ban. Then one string for each group, with numbers separated by
--       spaces: requests, limit per minute, limit per day, and the counts that the calling instance knows: start of the
--       minute, its count, day, its count.
-- Returns two lists. The first has an entry for each run of admitted requests (as of the last of them) and for each other
-- request: requests, decision (1 admitted, 0 refused, 2 banned), now, start of the minute, its count, day, its count,
-- refusals, end of the ban, number of the ban. The second has the keys that had the wrong type and were replaced.

local BAN_AFTER, BAN_TIME = tonumber(ARGV[1]), tonumber(ARGV[2])
local today = math.floor(now / DAY)

local replies = {}

-- A day later than tomorrow was counted while the clock was wrong. It counts as today.
local function atMostTomorrow(day)
  return day > today + 1 and today or day
end

local function banTime(count)
  return math.min(BAN_TIME * 2 ^ (count - 1), DAY)
end

local function charge(countsKey, refusalsKey, banKey, group)
  local arg = {}
  for number in string.gmatch(group, '%S+') do arg[#arg + 1] = tonumber(number) end
  local times, perMinute, perDay, knownStart, knownMinute, knownDay, knownCount = unpack(arg)
  local isKey = banKey ~= countsKey
  local stored = read('HMGET', countsKey, 'minuteStart', 'minuteCount', 'day', 'dayCount')
  local start, minute = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
  local day, count = atMostTomorrow(tonumber(stored[3]) or 0), tonumber(stored[4]) or 0
  knownDay = atMostTomorrow(knownDay)

  -- After a server lost its memory, instances know more than it does. The higher count is the newer one. The start of the
  -- minute does not show which is newer, because the clock may have been set back since.
  if knownDay > day or (knownDay == day and knownCount > count) then
    start, minute, day, count = knownStart, knownMinute, knownDay, knownCount
  end

  -- A clock that was set back must not stretch the minute.
  local changed = start > now
  if changed then start = now end
  if minute == 0 or now - start >= MINUTE then start, minute = now, 0 end
  if today > day then day, count = today, 0 end

  local banUntil, banCount = 0, 0
  if isKey then
    local ban = read('HMGET', banKey, 'until', 'count')
    banUntil, banCount = tonumber(ban[1]) or 0, tonumber(ban[2]) or 0
  end

  local function writeBan(ending)
    banUntil = ending
    redis.call('HSET', banKey, 'until', banUntil, 'count', banCount)
    redis.call('PEXPIREAT', banKey, banUntil + DAY)
  end

  -- Nor may it stretch a ban.
  if banUntil > now + banTime(banCount) then writeBan(now + banTime(banCount)) end

  local function reply(number, decision, refusals)
    replies[#replies + 1] = { number, decision, now, start, minute, day, count, refusals, banUntil, banCount }
  end

  -- Counts one refusal, and returns how many count now.
  local function refuse()
    local oldest = read('LINDEX', refusalsKey, 0)
    while oldest and math.abs(now - (tonumber(oldest) or 0)) >= MINUTE do
      redis.call('LPOP', refusalsKey)
      oldest = redis.call('LINDEX', refusalsKey, 0)
    end
    local refusals = redis.call('RPUSH', refusalsKey, now)
    if refusals >= BAN_AFTER then
      redis.call('DEL', refusalsKey)
      banCount = (banUntil > 0 and now - banUntil < DAY) and banCount + 1 or 1
      writeBan(now + banTime(banCount))
    else
      redis.call('PEXPIRE', refusalsKey, MINUTE)
    end
    return refusals
  end

  -- Counts never go down within a call, so the admitted requests of a group come before the refused ones.
  local admitted = banUntil > now and 0 or math.max(0, math.min(times, perMinute - minute, perDay - count))
  if admitted > 0 then
    minute, count = minute + admitted, count + admitted
    changed = true
    reply(admitted, 1, 0)
  end
  for _ = admitted + 1, times do
    if banUntil > now then
      reply(1, 2, 0)
    else
      local refusals = isKey and refuse() or 0
      reply(1, banUntil > now and 2 or 0, refusals)
    end
  end

  if changed then
    redis.call('HSET', countsKey, 'minuteStart', start, 'minuteCount', minute, 'day', day, 'dayCount', count)
    redis.call('PEXPIREAT', countsKey, (day + 1) * DAY + MINUTE)
  end
end

for i = 3, #ARGV do
  local key = (i - 3) * 3
  charge(KEYS[key + 1], KEYS[key + 2], KEYS[key + 3], ARGV[i])
end
return { replies, replaced }
