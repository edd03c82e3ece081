-- Notes that an instance is alive, and returns how many are.
--
-- KEYS  1 the instances that use this server.
-- ARGV  1 this instance, 2 milliseconds until it counts as gone, 3 the run of the server that has its counts.
-- Returns the run of the server, which changes when the server is restarted or replaced, and how many live instances have
-- restored their counts on this run.

local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
read('ZCARD', KEYS[1])
if ARGV[3] == run then redis.call('ZADD', KEYS[1], now, ARGV[1] .. ' ' .. run) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])

local count = 0
for _, instance in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if string.sub(instance, -#run) == run then count = count + 1 end
end
return { run, count }
