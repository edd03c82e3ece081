import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { isTorture } from '../support/rounds.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { PLANTED_FAULTS } from './planted-faults.ts';
import { Runner, shrink, writePlan } from './runner.ts';
import { type Plan, TROUBLES } from './world.ts';

const { env } = process;

/** SEED, STEPS and TROUBLES run one plan again, as a failure prints them. */
const seed = env['SEED'] === undefined ? undefined : Number(env['SEED']);

/** Requests of a run. Each is several tasks of the scheduler, and so is each second of an instance. */
const STEPS = Number(env['STEPS'] ?? (isTorture ? 60 : 20));

const troubles = TROUBLES.filter((kind) => env['TROUBLES']?.split(',').includes(kind) ?? true);

const toPlan = (number: number): Plan => ({ seed: number, steps: STEPS, troubles });

/** Seeds of all runs: the same ones in `npm test`, so that a change shows what it breaks, and others each time in `npm run torture`. */
const FIRST = isTorture ? Date.now() % 1_000_000_000 : 1;
const RUNS = seed !== undefined ? 1 : isTorture ? 10_000 : 300;

/** Seeds within which each planted fault is found. */
const MOST_SEEDS = 1_000;

/** Milliseconds for the runs of `npm run torture`: they end then, and say how many there were. */
const TIME = 90 * 60_000;

/** Milliseconds for a last run, and to make a plan smaller. */
const SHRINKING_TIME = 10 * 60_000;

/** What all runs together must reach: a client that does nothing finds nothing. */
const REACHED = [
  'pet.created',
  'pet.updated',
  'webhook.disabled',
  'key.banned',
  'order.created',
  'order.completed',
  'order.cancelled',
  'order.expired',
  'PATCH 200',
  'PATCH 412',
  'POST 409',
  'GET 429',
  'POST 503',
  'GET undefined',
  'GET 401',
  'DELETE 204',
  'message 204',
  'message 500',
  'message undefined',
  'stall',
  'disk',
  'redis',
  'end',
  'clock',
  'network',
];

const lifetime = lifetimeOfFile();

/** A thread each. All tests share them, because to load the service takes as long as ten runs. */
const runners = [1, 2].map(() => new Runner(temporaryFolder(lifetime))) as [Runner, Runner];
lifetime.after(() => Promise.all(runners.map((runner) => runner.close())));

async function failWith(runner: Runner, plan: Plan, faults: readonly string[]): Promise<never> {
  const smallest = await shrink(runner, plan, faults);
  assert.fail(`${writePlan(smallest.plan)}\n${smallest.faults.join('\n')}`);
}

test('three instances keep every guarantee, whatever goes wrong and in whatever order', {
  timeout: TIME + SHRINKING_TIME,
}, async (t) => {
  const end = Date.now() + TIME;
  let [next, tasks] = [0, 0];
  const reached = new Set<string>();
  const run = async (runner: Runner) => {
    while (next < RUNS && Date.now() < end) {
      const plan = toPlan(seed ?? FIRST + next);
      next++;
      const report = await runner.run(plan);
      tasks += report.tasks;
      for (const each of report.reached) reached.add(each);
      if (report.faults.length > 0) await failWith(runner, plan, report.faults);
    }
  };
  await Promise.all(runners.map(run));
  if (seed === undefined)
    assert.deepEqual(
      REACHED.filter((each) => !reached.has(each)),
      [],
      'not reached',
    );
  t.diagnostic(`${next} runs from seed ${seed ?? FIRST}, ${tasks} tasks`);
});

/** Runs that have found faults, of the service or of a checker, with what was wrong. */
const FOUND: readonly (Plan & { readonly fault: string })[] = [
  {
    seed: 20_286,
    steps: 60,
    troubles: TROUBLES,
    fault: 'a key was admitted after its ban had begun without Redis',
  },
  {
    seed: 747_206_450,
    steps: 7,
    troubles: ['disk', 'redis', 'endpoints', 'operator'],
    fault: 'the counter forgot a request that Redis had counted too late, and an instance had banned',
  },
  {
    seed: 749_573_849,
    steps: 17,
    troubles: TROUBLES,
    fault: 'the counter forgot that an instance which stands still hears late of the end of an outage',
  },
];

for (const { fault, ...found } of FOUND)
  test(`a run that found a fault finds none: ${fault}`, async () => {
    assert.deepEqual((await runners[0].run(found)).faults, []);
  });

test('the same seed gives the same run', async () => {
  const [one, other] = runners;
  await other.run(toPlan(8));
  // In these a message fails, is sent again, and a webhook gets a secret: all that is drawn shows.
  for (const number of seed === undefined ? [1, 12, 28] : [seed]) {
    const plan = toPlan(number);
    assert.equal((await one.run(plan)).trace, (await other.run(plan)).trace);
  }
});

for (const [name, { file, changes }] of Object.entries(PLANTED_FAULTS)) {
  test(`the planted fault has its place: ${name}`, () => {
    const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    for (const [found] of changes) assert.equal(source.split(found).length, 2, `${file}: ${found}`);
  });
  if (!isTorture) continue;
  test(`the simulator finds: ${name}`, { timeout: 20 * 60_000 }, async (t) => {
    const runner = new Runner(temporaryFolder(t), name);
    t.after(() => runner.close());
    for (let number = 1; number <= MOST_SEEDS; number++) {
      const { faults } = await runner.run(toPlan(number));
      if (faults.length === 0) continue;
      t.diagnostic(`found with seed ${number}: ${faults[0]}`);
      return;
    }
    assert.fail(`not found with ${MOST_SEEDS} seeds`);
  });
}
