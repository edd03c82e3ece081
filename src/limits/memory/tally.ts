import type { Standing } from '../ban.ts';
import { isIPv4 } from 'node:net';
import { Instants } from '../instants.ts';
import { type Moment, unixOffset } from '../../domain/clock.ts';
import { accountCaller, addressCaller, type Caller, type StoredStanding } from '../counter.ts';
import type { Usage } from '../quota.ts';

/*
 * What is counted in memory, and how it is stored: instants that are monotonic here are Unix milliseconds there.
 */

const DOT = 46;
const DIGIT_0 = 48;

/** The account's id, or the client's address. */
export type CallerId = number | string;

declare const isTallyIndex: unique symbol;

/** By which a tally is found among those of its kind of caller: see `indexOf`. */
export type TallyIndex = (number | string) & { readonly [isTallyIndex]: true };

/** What is counted of one caller. There may be very many: all is in one object, which only one map holds. */
export interface Tally {
  readonly caller: CallerId;
  /** For these four see `Usage`. */
  minuteStart: number;
  minuteCount: number;
  day: number;
  dayCount: number;
  /** A key of this account that was never refused, as most were not: it needs no `KeyStanding`. */
  blamelessKeyId: number | undefined;
  /** Whether its row is out of date. */
  changed: boolean;
  /** An account's last request came after so many flushes: see `WriteBehind`. */
  activeIn: number;
}

/** What is remembered of one key. */
export interface KeyStanding {
  readonly keyId: number;
  standing: Standing;
  /** Whether its row, if it has one, is out of date. */
  changed: boolean;
}

export function tallyOf(caller: CallerId, { minuteStart, minuteCount, day, dayCount }: Usage): Tally {
  // Each field by name: what is spread into an object takes more memory.
  return {
    caller,
    minuteStart,
    minuteCount,
    day,
    dayCount,
    blamelessKeyId: undefined,
    changed: false,
    activeIn: -1,
  };
}

export function keyStandingOf(keyId: number, standing: Standing): KeyStanding {
  return { keyId, standing, changed: false };
}

export function idOf(caller: Caller): CallerId {
  return caller.kind === 'key' ? caller.accountId : caller.address;
}

/**
 * The id of an account; an IPv4 address as the 32 bits it is, any other as it is: of a text that is looked up in a map V8
 * keeps a copy in a table of its own, which takes time and memory for every address that comes.
 */
export function indexOf(caller: Caller): TallyIndex {
  if (caller.kind === 'key') return caller.accountId as TallyIndex;
  const { address } = caller;
  return (isIPv4(address) ? bitsOf(address) : address) as TallyIndex;
}

function bitsOf(address: string): number {
  let bits = 0;
  let part = 0;
  for (let index = 0; index < address.length; index++) {
    const code = address.charCodeAt(index);
    if (code === DOT) {
      bits = (bits << 8) | part;
      part = 0;
    } else part = part * 10 + code - DIGIT_0;
  }
  return (bits << 8) | part;
}

export function nameOf(id: CallerId): string {
  return typeof id === 'number' ? accountCaller(id) : addressCaller(id);
}

/** The same with all monotonic instants moved by so many milliseconds. */
export function shiftUsage({ minuteStart, minuteCount, day, dayCount }: Usage, by: number): Usage {
  return { minuteStart: minuteStart + by, minuteCount, day, dayCount };
}

export function storedStanding({ refusals, ban }: Standing, offset: number): StoredStanding {
  return { refusals: refusals.toArray().map((instant) => instant + offset), ban };
}

/** As it counts from `now` on, also when the clock was set back since it was stored: no refusal lies ahead. */
export function standingOf({ refusals, ban }: StoredStanding, now: Moment): Standing {
  const offset = unixOffset(now);
  return { refusals: Instants.of(refusals.map((instant) => Math.min(instant - offset, now.monotonic))), ban };
}
