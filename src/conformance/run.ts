import { ApiKey, type RandomBytes } from '../domain/api-key.ts';
import type { Clock } from '../domain/clock.ts';
import { StartupError } from '../domain/startup-error.ts';
import { type Answer, describeAnswer, describeRequest, type Finding, type Request } from './answer.ts';
import type { Check, Outcome } from './check.ts';
import { Description } from './description.ts';
import { elements, isObject, member, readJson } from './json.ts';
import { CheckEnded, CheckSkipped, Probe, type Scene } from './probe.ts';
import { type Rule, rulesOf } from './rules.ts';
import { CHECKS } from './sections/index.ts';
import { RunStopped, Session } from './session.ts';
import { NoAnswer, Transport } from './transport.ts';

export interface RunOptions {
  /** Of the API: it ends in `/v1`. */
  readonly base: URL;
  readonly key: string;
  /** Whether to add, change and delete. */
  readonly writes: boolean;
  readonly clock: Clock;
  /** Resolves after `milliseconds`, or when `signal` aborts. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly random: RandomBytes;
  /** Ends the run early. What was added is deleted nevertheless. */
  readonly signal: AbortSignal;
}

export interface Report {
  /** In the order of the contract. */
  readonly outcomes: readonly Outcome[];
  readonly requests: number;
  /** Milliseconds that were waited for the limits. */
  readonly waited: number;
  /** Why the run ended early. */
  readonly stopped: string | undefined;
  /** What could not be deleted again. */
  readonly left: readonly string[];
}

/** The same for every run. */
const description = new Description();

/** Findings of a rule at most: the first ones show what is wrong. */
const MOST_FINDINGS = 5;

/**
 * Compares a deployment with the contract, by HTTP only.
 * @throws StartupError when it does not answer, or does not accept the key.
 */
export async function runChecks(options: RunOptions): Promise<Report> {
  const { base, key, writes, clock, wait, random, signal } = options;
  const transport = new Transport(base, clock);
  const bases = new Set([base.href]);
  const tally = new RuleTally(rulesOf(description, () => [...bases]));
  const added = new Set<string>();
  const left = new Set<string>();
  const inspect = (answer: Answer) => {
    tally.inspect(answer);
    follow(answer, added, left);
  };
  const session = new Session({ transport, base, key, description, clock, wait, signal }, inspect);
  const category = randomCategory(random);
  const outcomes: Outcome[] = [];
  let stopped: string | undefined;
  let mayHaveAdded = false;
  try {
    const { account, published } = await openDeployment(session);
    const document = readJson(published.text);
    for (const server of elements(member(document, 'servers'))) {
      const url = member(server, 'url');
      if (typeof url === 'string') bases.add(url);
    }
    const scopes = elements(member(account.json, 'scopes')).filter((scope) => typeof scope === 'string');
    const scene: Scene = {
      send: async (request) => {
        mayHaveAdded ||= request.method === 'POST';
        try {
          return await session.send(request);
        } catch (error) {
          if (error instanceof NoAnswer && isLost(request, category))
            left.add(`${request.path} (a POST had no answer: it may have added one)`);
          throw error;
        }
      },
      wait: (milliseconds) => wait(milliseconds, signal),
      addresses: () => transport.addresses(),
      bases: [...bases],
      key,
      scopes: account.status === 200 ? scopes : undefined,
      description,
      published: { answer: published, document },
      category,
      unique: () => Buffer.from(random(8)).toString('hex'),
    };
    for (const check of CHECKS) {
      const outcome = stopped === undefined ? await runCheck(check, scene, writes) : undefined;
      if (outcome instanceof RunStopped) stopped = outcome.message;
      outcomes.push(
        outcome === undefined || outcome instanceof RunStopped
          ? notChecked(check, `the run ended: ${stopped}`)
          : outcome,
      );
    }
  } finally {
    if (mayHaveAdded) {
      session.beginCleaning();
      if (!(await clean(session, added, category)))
        left.add(`/pets?categoryId=${category} (not looked at: animals may be left)`);
      for (const path of added) left.add(path);
    }
    transport.close();
  }
  return {
    outcomes: [...outcomes, ...tally.outcomes()].toSorted(bySection),
    requests: session.requests,
    waited: Math.round(session.waited),
    stopped,
    left: [...left].toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true })),
  };
}

/** The first two requests say whether there is a service, whether it accepts the key, and what it says of itself. */
async function openDeployment(session: Session) {
  try {
    const account = await session.send({ method: 'GET', path: '/account' });
    if (account.status === 401) throw new StartupError(`The key is not accepted: ${describeAnswer(account)}`);
    const published = await session.send({ method: 'GET', path: '/openapi.json', isPage: true });
    // A mistyped address would break a hundred promises.
    const isDescribed = isObject(member(readJson(published.text), 'paths'));
    if (!isDescribed && (account.status === 404 || !isObject(account.json)))
      throw new StartupError(
        `Nothing at this address looks like a Pet Store: GET /v1/account gives ${describeAnswer(account)}`,
      );
    return { account, published };
  } catch (error) {
    if (error instanceof NoAnswer) throw new StartupError(error.message);
    if (error instanceof RunStopped) throw new StartupError(`Nothing was checked: ${error.message}.`);
    throw error;
  }
}

async function runCheck(check: Check, scene: Scene, writes: boolean): Promise<Outcome | RunStopped> {
  const missing = check.scopes?.find((scope) => scene.scopes?.includes(scope) === false);
  if (check.writes === true && !writes) return notChecked(check, 'it would write');
  if (missing !== undefined) return notChecked(check, `the key lacks the scope ${missing}`);
  const probe = new Probe(scene);
  try {
    await check.run(probe);
  } catch (error) {
    if (error instanceof RunStopped) return error;
    if (error instanceof CheckSkipped && probe.findings.length === 0) return notChecked(check, error.message);
    if (!(error instanceof CheckEnded || error instanceof CheckSkipped)) throw error;
  }
  const { findings, answers } = probe;
  const { section, promise } = check;
  return { section, promise, state: findings.length === 0 ? 'kept' : 'broken', answers, findings };
}

function notChecked({ section, promise }: Pick<Check, 'section' | 'promise'>, reason: string): Outcome {
  return { section, promise, state: 'not checked', reason, answers: 0, findings: [] };
}

/** What came of the rules that hold for every answer. */
class RuleTally {
  readonly #rules: readonly (readonly [
    Rule,
    { answers: number; broken: number; readonly findings: Finding[] },
  ])[];

  constructor(rules: readonly Rule[]) {
    this.#rules = rules.map((rule) => [rule, { answers: 0, broken: 0, findings: [] }]);
  }

  inspect(answer: Answer): void {
    for (const [rule, seen] of this.#rules) {
      const result = rule.inspect(answer);
      if (result === undefined) continue;
      seen.answers++;
      if (result === 'kept') continue;
      seen.broken++;
      if (seen.findings.length < MOST_FINDINGS)
        seen.findings.push({ request: describeRequest(answer.request), ...result });
    }
  }

  outcomes(): readonly Outcome[] {
    return this.#rules.map(([{ section, promise }, { answers, broken, findings }]): Outcome => {
      if (answers === 0) return notChecked({ section, promise }, 'no answer shows it');
      const more = broken - findings.length;
      const rest = { request: `${more} more answers`, expected: 'the same', came: 'other' };
      return {
        section,
        promise,
        state: broken === 0 ? 'kept' : 'broken',
        answers,
        findings: more > 0 ? [...findings, rest] : findings,
      };
    });
  }
}

/** The collections that the checks add to. */
const COLLECTIONS: ReadonlySet<string> = new Set([
  '/pets',
  '/categories',
  '/store/orders',
  '/webhooks',
  '/account/keys',
]);

/** Notes what a request added, and what one deleted. An order and a key stay in their lists. */
function follow({ request, status, json }: Answer, added: Set<string>, left: Set<string>): void {
  const path = request.path.replace(/\?.*/s, '');
  if (request.method === 'DELETE' && (status === 204 || status === 404)) {
    added.delete(path);
    if (path.startsWith('/store/orders/') && status === 204) left.add(`${path} (cancelled)`);
    if (path.startsWith('/account/keys/') && status === 204) left.add(`${path} (revoked)`);
  }
  if (request.method === 'POST' && path.endsWith('/complete') && status === 200) {
    added.delete(path.slice(0, -'/complete'.length));
    left.add(`${path.slice(0, -'/complete'.length)} (complete)`);
  }
  const collection = path.replace(/\/\d+\/rotate$/, '');
  const id = member(json, 'id');
  if (request.method === 'POST' && status === 201 && COLLECTIONS.has(collection) && typeof id === 'bigint')
    added.add(`${collection}/${id}`);
}

/** Whether nothing would find at the end what this request may have added. */
function isLost({ method, path, body }: Request, category: bigint): boolean {
  if (method !== 'POST' || !COLLECTIONS.has(path.replace(/\/\d+\/rotate$/, ''))) return false;
  return path !== '/pets' || typeof body !== 'string' || !body.includes(`${category}`);
}

/** Deletes what was added, the last first. What is left is in `added`. False if the animals of the run could not be listed. */
async function clean(session: Session, added: Set<string>, category: bigint): Promise<boolean> {
  // An order holds its animal.
  const isOrder = (path: string) => path.startsWith('/store/orders/');
  const paths = [...added].toReversed();
  try {
    for (const path of [...paths.filter(isOrder), ...paths.filter((each) => !isOrder(each))])
      await session.send({ method: 'DELETE', path });
    // Animals whose 201 was lost.
    const found = await session.send({
      method: 'GET',
      path: `/pets?categoryId=${category}&mine=true&limit=100`,
    });
    for (const pet of elements(found.json)) {
      const id = member(pet, 'id');
      if (member(pet, 'categoryId') !== category || typeof id !== 'bigint') continue;
      added.add(`/pets/${id}`);
      await session.send({ method: 'DELETE', path: `/pets/${id}` });
    }
    return found.status === 200;
  } catch (error) {
    if (!(error instanceof NoAnswer || error instanceof RunStopped)) throw error;
    return false;
  }
}

/** Between 2^60 and 2^62, and odd. A float would round it. */
function randomCategory(random: RandomBytes): bigint {
  const bits = BigInt(`0x${Buffer.from(random(8)).toString('hex')}`);
  return (1n << 60n) + (bits >> 4n) * 2n + 1n;
}

function bySection({ section: one }: Outcome, { section: other }: Outcome): number {
  const [a, b] = [one, other].map((section) => section.split('.').map(Number)) as [number[], number[]];
  return (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0);
}

/** Whether this is a key of production. Keys of another form count as such, so that nothing is written by mistake. */
export function isProduction(key: string): boolean {
  return ApiKey.parse(key)?.environment !== 'staging';
}
