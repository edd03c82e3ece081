-- Puts usage or a ban there as it was elsewhere, when a catalogue moves. KEYS 1 the hash. ARGV 1 when it may be
-- forgotten (Unix milliseconds), then fields and values.

redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('PEXPIREAT', KEYS[1], ARGV[1])
