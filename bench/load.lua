-- Sends the requests of a file in turn and prints the measurements as one line of JSON. It needs one thread (-t1).
-- Usage: wrk -t1 -s load.lua URL -- FILE STATUS,... NUMBERS FIRST
-- FILE holds requests as they are sent, separated by \1. Each answer must have one of the statuses; if there are none, a
-- status below 400. Each number from 1 to NUMBERS replaces \2 in the first request, beginning with number FIRST of the
-- sequence. A request with \3 follows each answer with a `Location`, whose last number replaces \3.

local requests, sent, followUp, created = {}, 0, nil, {}
local numbers, number
local worker

-- A prime, so all numbers come before one comes again.
local STEP = 611953

unexpected, used = 0, 0

function setup(thread)
  worker = thread
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for text in file:read("*a"):gmatch("[^\1]+") do
    if text:find("\3") then followUp = parts(text, "\3") else requests[#requests + 1] = text end
  end
  file:close()
  if args[2] ~= "" then check(args[2]) end
  if requests[1]:find("\2") then
    numbers = tonumber(args[3])
    number = tonumber(args[4]) * STEP % numbers
    requests = parts(requests[1], "\2")
    request = numbered
  end
end

function parts(text, mark)
  local before, after = text:match("^(.-)" .. mark .. "(.*)$")
  -- In a body, spaces fill up the octets that Content-Length counts for the number.
  return { before, before:find("\r\n\r\n") and "%9d" or "%d", after }
end

function filled(text, value)
  return text[1] .. text[2]:format(value) .. text[3]
end

function request()
  sent = sent + 1
  return requests[(sent - 1) % #requests + 1]
end

function numbered()
  local id = table.remove(created)
  if id then return filled(followUp, id) end
  used = used + 1
  number = (number + STEP) % numbers
  return filled(requests, number + 1)
end

-- Defines `response` only when needed: wrk then reads the head of each answer, which costs it time.
function check(list)
  local expected = {}
  for status in list:gmatch("%d+") do
    expected[tonumber(status)] = true
  end
  checked = true
  response = function(status, headers)
    if not expected[status] then unexpected = unexpected + 1 end
    local location = followUp and (headers.Location or headers.location)
    if location then created[#created + 1] = tonumber(location:match("%d+$")) end
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"unexpected":%d,"numbers":%d,"socketErrors":%d,"p99":%f,"cpuSeconds":%f}\n',
    summary.requests,
    summary.duration,
    worker:get("checked") and worker:get("unexpected") or errors.status,
    worker:get("used"),
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(99),
    os.clock()
  ))
end
