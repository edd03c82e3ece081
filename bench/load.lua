-- Sends the requests of a file in turn and prints the measurements as one line of JSON. It needs one thread (-t1).
-- Usage: wrk -t1 -s load.lua URL -- FILE [STATUS,...] [NUMBERS]
-- FILE holds requests as they are sent, separated by \1. With STATUS, each answer must have one of these statuses;
-- without it, a status below 400. With NUMBERS, each number from 1 to NUMBERS replaces \2 in the only request.

local requests, sent = {}, 0
local before, after, numbers, number
local worker

-- It has no common factor with powers of ten, so all numbers come before one comes again.
local STEP = 611953

unexpected = 0

function setup(thread)
  worker = thread
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for request in file:read("*a"):gmatch("[^\1]+") do
    requests[#requests + 1] = request
  end
  file:close()
  if (args[2] or "") ~= "" then check(args[2]) end
  if args[3] then
    numbers = tonumber(args[3])
    -- Each run begins with another number.
    math.randomseed(os.time())
    number = math.random(numbers) - 1
    before, after = requests[1]:match("^(.-)\2(.*)$")
    request = numbered
  end
end

function request()
  sent = sent + 1
  return requests[(sent - 1) % #requests + 1]
end

function numbered()
  number = (number + STEP) % numbers
  return before .. (number + 1) .. after
end

-- Defines `response` only when needed: wrk then reads the head of each answer, which costs it time.
function check(list)
  local expected = {}
  for status in list:gmatch("%d+") do
    expected[tonumber(status)] = true
  end
  checked = true
  response = function(status)
    if not expected[status] then unexpected = unexpected + 1 end
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"unexpected":%d,"socketErrors":%d,"p99":%f,"cpuSeconds":%f}\n',
    summary.requests,
    summary.duration,
    worker:get("checked") and worker:get("unexpected") or errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(99),
    os.clock()
  ))
end
