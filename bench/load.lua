-- Sends the requests of a file in turn, over and over, and prints what was measured as one line of JSON.
-- Usage: wrk -s load.lua URL -- FILE [STATUS,...] [NUMBERS]
-- In the file each request is as it goes over the wire, and \1 stands between two. With STATUS, each answer must have
-- one of them; without, one below 400. With NUMBERS, each number from 1 to this stands for \2 in the only request.

local requests, sent = {}, 0
local before, after, numbers, number
local threads = {}

-- Shares no factor with a power of ten, so that all numbers come before one comes again.
local STEP = 611953

unexpected = 0

function setup(thread)
  threads[#threads + 1] = thread
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for request in file:read("*a"):gmatch("[^\1]+") do
    requests[#requests + 1] = request
  end
  file:close()
  -- wrk reads the head of an answer only when it finds this function: it costs the load generator time.
  if (args[2] or "") ~= "" then check(args[2]) end
  if args[3] then
    numbers = tonumber(args[3])
    -- Each run begins elsewhere.
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
  local wrong = errors.status
  if threads[1]:get("checked") then
    wrong = 0
    for _, thread in ipairs(threads) do
      wrong = wrong + thread:get("unexpected")
    end
  end
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"unexpected":%d,"socketErrors":%d,"p50":%f,"p99":%f,"cpuSeconds":%f}\n',
    summary.requests,
    summary.duration,
    wrong,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50),
    latency:percentile(99),
    os.clock()
  ))
end
