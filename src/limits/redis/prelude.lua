-- Stands before every script: the time of Redis, and how keys are read.

local MINUTE, DAY = 60000, 86400000
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- The keys of the wrong type that this script has deleted.
local replaced = {}

-- The reply to a command that reads a key, and whether the key has the wrong type. Then the reply is an empty table.
local function peek(command, key, ...)
  local reply = redis.pcall(command, key, ...)
  if type(reply) ~= 'table' or not reply.err then return reply, false end
  if string.find(reply.err, 'WRONGTYPE', 1, true) then return {}, true end
  return redis.call(command, key, ...), false
end

-- The same for a key that the script will write. A key of the wrong type is deleted, so that it fails no request.
local function read(command, key, ...)
  local reply, isOfWrongType = peek(command, key, ...)
  if not isOfWrongType then return reply end
  redis.call('DEL', key)
  replaced[#replaced + 1] = key
  return redis.call(command, key, ...)
end
