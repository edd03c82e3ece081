-- Sends the requests of a file in turn, over and over, and prints what was measured as one line of JSON.
-- Usage: wrk -s load.lua URL -- FILE; in the file each request is as it goes over the wire, and \1 stands between two.

local requests, sent = {}, 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for request in file:read("*a"):gmatch("[^\1]+") do
    requests[#requests + 1] = request
  end
  file:close()
end

function request()
  sent = sent + 1
  return requests[(sent - 1) % #requests + 1]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"errorStatuses":%d,"socketErrors":%d,"p50":%f,"p99":%f,"cpuSeconds":%f}\n',
    summary.requests,
    summary.duration,
    errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50),
    latency:percentile(99),
    os.clock()
  ))
end
