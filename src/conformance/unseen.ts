/** What the contract promises in a section and nobody can see from outside. */
interface Unseen {
  readonly section: string;
  readonly what: string;
}

export const UNSEEN: readonly Unseen[] = [
  { section: '2.6', what: 'the orders of other accounts, and the limit of open orders' },
  { section: '2.8', what: 'what a key of another account may change, because there is one key' },
  { section: '3.3', what: 'that an answered change is on disk, and what a crash or a cut of power leaves' },
  { section: '3.4', what: 'a request in flight, and the 24 hours of an Idempotency-Key' },
  { section: '3.5', what: 'the 410 from 2030-12-05 on' },
  { section: '3.12', what: 'that an open order expires at expiresAt' },
  { section: '4.3', what: 'what the HTTP layer refuses, because a proxy may refuse it first' },
  { section: '5.2', what: 'suspended accounts' },
  { section: '5.4', what: 'expiry and changes of plan, and how fast another instance learns of a change' },
  { section: '6.4', what: 'the refusal beyond a limit, because the check stays below it' },
  { section: '6.5', what: 'the buckets of client addresses, but for a few answers 401' },
  { section: '6.6', what: 'bans' },
  { section: '6.7', what: 'counters after a restart or a crash' },
  { section: '6.8', what: 'a clock that jumps' },
  { section: '6.9', what: 'that the usage adds up, because it comes late and others may use the account' },
  { section: '13.1', what: 'events of limits and keys' },
  { section: '13.3', what: 'what an endpoint gets, because nothing is sent to one' },
];

/** Sections of which only operators see something. */
export const OPERATORS_ONLY: readonly string[] = ['7', '8', '10'];
