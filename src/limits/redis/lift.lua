-- Forgets a ban and earlier ones. KEYS 1 the ban. Returns 1, or 0 if there is none: of several lifts at once one gets 1.

return redis.call('DEL', KEYS[1])
