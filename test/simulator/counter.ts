import { DAY, MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { Limits } from '../../src/domain/plan.ts';
import type { Call, Trouble } from './history.ts';
import { BEGIN, type SimulatedProcess } from './scheduler.ts';
import type { SimulatedAccount } from './template.ts';
import { BAN_AFTER, type World } from './world.ts';

/** Milliseconds after a trouble in which instances may still count by themselves. */
const RECOVERY = 6 * SECOND;

/** Milliseconds that an instance still counts for the shares of the others after its end. */
const FORGOTTEN = 7 * SECOND;

const BAN_SLACK = 2 * SECOND;

const isAdmitted = ({ answer }: Call) => answer !== undefined && ![401, 429, 503].includes(answer.status);

const isBanned = ({ answer }: Call) => (answer?.body as { code?: string } | undefined)?.code === 'key_banned';

const isRefused = (call: Call) => call.answer?.status === 429 && !isBanned(call);

const describe = ({ client, process, began, ended, answer, keyId }: Call) =>
  `${client} with key ${keyId} to ${process.name} from ${began.toFixed(1)} to ${ended.toFixed(1)}: ${answer?.status} ${answer?.headers['ratelimit'] ?? ''}`;

/** Limits are exact while the shared counter answers, and within the shares of all instances while it does not. */
export function checkCounter(world: World): readonly string[] {
  const { calls } = world.history;
  return Object.values(world.accounts).flatMap((account) => {
    if (account.limits.perDay > 100_000) return [];
    const own = calls.filter(({ accountId }) => accountId === account.id);
    return [
      ...findTooMany(world, account, own),
      ...findRepeated(world, account, own),
      ...findEarlyRefusals(world, account, own),
      ...findForgottenBans(world, own),
      ...findEarlyBans(world, own),
    ].map((fault) => `${account.name}: ${fault}`);
  });
}

const outages = ({ history }: World) => history.troubles.filter(({ kind }) => kind === 'redis');

const isCalm = (world: World) =>
  world.history.troubles.every(({ kind }) => kind !== 'redis' && kind !== 'stall');

/** Instants of the run at which a day of UTC begins. */
function dayOf(instant: number): number {
  return Math.floor((BEGIN + instant) / DAY);
}

/** More than a limit, or twice as much with outages: once together, once as shares. */
function findTooMany(world: World, { limits }: SimulatedAccount, calls: readonly Call[]): readonly string[] {
  const { troubles } = world.history;
  // A new process has a new share.
  if (troubles.some(({ kind, from }) => kind === 'end' && from > 0)) return [];
  const factor = isCalm(world) ? 1 : 2;
  const admitted = calls.filter(isAdmitted);
  const faults: string[] = [];
  const isClockRight = troubles.every(({ kind }) => kind !== 'clock');
  for (const [day, all] of Map.groupBy(admitted, ({ began }) => dayOf(began))) {
    const inside = all.filter(({ ended }) => dayOf(ended) === day);
    if (isClockRight && inside.length > factor * limits.perDay)
      faults.push(`${inside.length} of ${limits.perDay} were admitted in a day`);
  }
  const sorted = admitted.toSorted((one, other) => one.began - other.began);
  for (const first of sorted) {
    // Two windows can meet in this time.
    const most = 2 * factor * limits.perMinute;
    const inside = sorted.filter(({ began, ended }) => began >= first.began && ended <= first.began + MINUTE);
    if (inside.length > most) {
      faults.push(`${inside.length} were admitted in a minute from ${first.began}`);
      break;
    }
  }
  return faults;
}

/** The windows that an answer shows: what is left of each, and when it ends. */
function readWindows({ answer, ended }: Call) {
  const [, minute, minuteWait, day] =
    /^"minute";r=(\d+);t=(\d+), "day";r=(\d+);t=\d+$/.exec(answer?.headers['ratelimit'] ?? '') ?? [];
  return { minute: Number(minute), day: Number(day), ends: ended + Number(minuteWait) * SECOND };
}

/** Two admitted requests that saw the same number left of one day. */
function findRepeated(world: World, { limits }: SimulatedAccount, calls: readonly Call[]): readonly string[] {
  if (!isCalm(world)) return [];
  const admitted = calls.filter(isAdmitted).filter(({ began, ended }) => dayOf(began) === dayOf(ended));
  const seen = Map.groupBy(admitted, (call) => `${dayOf(call.began)} ${readWindows(call).day}`);
  const repeated = [...seen.values()].filter(({ length }) => length > 1);
  const faults = repeated.map(
    (all) => `the same number of the day was admitted twice\n${all.map(describe).join('\n')}`,
  );
  const starts = admitted
    .filter((call) => readWindows(call).minute === limits.perMinute - 1)
    .toSorted((one, other) => one.began - other.began);
  for (const [index, start] of starts.entries()) {
    const next = starts[index + 1];
    if (next !== undefined && next.ended - start.began < MINUTE)
      faults.push(`a minute began again too early\n${describe(start)}\n${describe(next)}`);
  }
  return faults;
}

/** Processes that a share may count at an instant. */
function countInstances({ history }: World, at: number): number {
  const ended = history.troubles.filter(
    ({ kind, from }) => kind === 'end' && from < at && from > at - FORGOTTEN,
  );
  const gone = history.troubles.filter(({ kind, from }) => kind === 'end' && from <= at).length;
  const started = history.starts.filter((start) => start <= at).length;
  return Math.max(1, started - gone + ended.length);
}

/** Whether an answer shows the limits of the account, and not the share of an instance. */
const isShared = ({ answer }: Call, { perMinute }: Limits) =>
  answer?.headers['ratelimit-policy']?.startsWith(`"minute";q=${perMinute};`) === true;

/** A refusal while there was room: in the windows that all share, or in the share of the instance. */
function findEarlyRefusals(
  world: World,
  { limits }: SimulatedAccount,
  calls: readonly Call[],
): readonly string[] {
  const { troubles } = world.history;
  const hasMoved = (at: number) => troubles.some(({ kind, from }) => kind === 'clock' && from <= at);
  return calls.filter(isRefused).flatMap((call) => {
    // Redis may have admitted what an instance refused or banned by itself, because it answered too late.
    const isCounted = (other: Call) => other.answer?.status !== 429 || !isShared(other, limits);
    const before = calls.filter((other) => other !== call && other.began <= call.ended && isCounted(other));
    const isInMinute = ({ ended }: Call) => ended >= call.began - MINUTE - SECOND;
    const inMinute = before.filter(isInMinute);
    if (inMinute.length >= limits.perMinute || before.length >= limits.perDay) return [];
    const outage = outages(world).filter(({ from, to }) => from <= call.ended && to + RECOVERY >= call.began);
    // A clock that has moved shows the windows of Redis at another time.
    if (outage.length > 0 && hasMoved(call.ended)) return [];
    // An instance that stood still hears late that Redis answers again.
    const isStalled = ({ kind, from, to }: Trouble) =>
      kind === 'stall' && from <= call.ended && to + RECOVERY >= call.began;
    if (!isShared(call, limits) && troubles.some(isStalled)) return [];
    if (outage.length === 0 || isShared(call, limits))
      return [
        `refused although there was room\n${describe(call)}\n${inMinute.length} in the minute, ${before.length} before`,
      ];
    const most = Math.max(
      ...outage.map(({ from }) => countInstances(world, Math.max(0, from - SECOND))),
      countInstances(world, call.ended),
    );
    const own = before.filter((other) => other.process === call.process && other.answer?.status !== 429);
    const share = (limit: number) => Math.max(1, Math.floor(limit / most));
    if (own.filter(isInMinute).length >= share(limits.perMinute) || own.length >= share(limits.perDay))
      return [];
    return [
      `refused within the share of one of ${most}\n${describe(call)}\n${own.filter(isInMinute).length} in the minute`,
    ];
  });
}

/** An admitted request of a key whose ban must be in force. */
function findForgottenBans(world: World, calls: readonly Call[]): readonly string[] {
  const { troubles } = world.history;
  const ends = (process: SimulatedProcess) =>
    troubles.find((each) => each.kind === 'end' && each.process === process)?.from ??
    Number.POSITIVE_INFINITY;
  return calls.filter(isBanned).flatMap((ban) => {
    const until = ban.ended + Number(ban.answer?.headers['retry-after']) * SECOND - BAN_SLACK;
    const admitted = calls.find((call) => {
      if (!isAdmitted(call) || call.keyId !== ban.keyId || call.began < ban.ended || call.ended > until)
        return false;
      if (troubles.some(({ kind, from, to }) => kind === 'clock' && from <= call.ended && to >= 0))
        return false;
      if (call.process === ban.process) return true;
      if (ends(ban.process) < call.began) return false;
      return !troubles.some(
        ({ kind, from, to }) =>
          ['redis', 'stall'].includes(kind) && from <= call.ended && to + RECOVERY >= call.began,
      );
    });
    return admitted === undefined ? [] : [`admitted during a ban\n${describe(ban)}\n${describe(admitted)}`];
  });
}

/** A ban without the refusals before it. Redis may count a refusal after an instance has admitted the request by itself. */
function findEarlyBans(world: World, calls: readonly Call[]): readonly string[] {
  const [first] = calls.filter(isBanned).toSorted((one, other) => one.ended - other.ended);
  if (first === undefined || outages(world).some(({ from }) => from <= first.ended)) return [];
  const refused = calls.filter(
    (call) =>
      call.keyId === first.keyId &&
      (isRefused(call) || isBanned(call) || call.answer === undefined) &&
      call.began <= first.ended,
  );
  return refused.length >= BAN_AFTER ? [] : [`banned after ${refused.length} refusals\n${describe(first)}`];
}
