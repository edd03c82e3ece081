/** What the contract promises and nobody can see from outside. */
export const UNSEEN: readonly string[] = [
  '2.8, 2.6: what another account may change or see, because there is one key',
  '3.3: that an answered change is on disk, and what a crash or a cut of power leaves',
  '3.4: a request that is still in flight, and the 24 hours of an Idempotency-Key',
  '3.12: that an open order expires at expiresAt',
  '4.3: what the HTTP layer refuses, because a proxy may refuse it first',
  '5.2, 5.4: suspension, expiry, the grace of a rotation, and how fast a change reaches other instances',
  '6.4, 6.6: the refusal beyond a limit, and bans, because the check stays below both',
  '6.5: the buckets of client addresses, beyond a few answers 401',
  '6.7, 6.8: counters after a restart or a crash, and a clock that jumps',
  '7, 8, 10: configuration, commands, and what only operators see',
  '13.3: what an endpoint gets, because nothing is sent to one',
];
