import { parseArgs } from 'node:util';
import { type Mode, MODE_NAMES } from './modes.ts';
import { SCENARIOS } from './scenarios.ts';
import type { Servers } from './stores.ts';

export interface Options {
  readonly mode: Mode;
  /** With PostgreSQL, Redis and a conventional build, instead of with the service alone. */
  readonly scale: boolean;
  readonly rounds: number;
  /** Of each measurement. */
  readonly seconds: number;
  /** How long each server runs before it counts, in seconds. */
  readonly warmUp: number;
  readonly animals: number;
  readonly json: boolean;
  readonly scenarios: typeof SCENARIOS;
  /** Whether to measure how the service starts. */
  readonly start: boolean;
  readonly servers: Servers;
  /** Whether this is all that the mode measures, as it measures it: only then its results are written. */
  readonly complete: boolean;
}

const START = 'start';
const ALL = SCENARIOS.map(({ name }) => name);
const NAMES = [...ALL, START];
const SCALE = SCENARIOS.filter(({ scaleGoals }) => scaleGoals !== undefined).map(({ name }) => name);

const ANIMALS = 1_000_000;
const GROWN = 10_000_000;

/** Many short rounds, for what disturbs them comes in moments. */
const LENGTH = { rounds: 5, seconds: 3, warmUp: 2 };

type Defaults = Pick<Options, 'rounds' | 'seconds' | 'warmUp' | 'animals'>;

const DEFAULTS: Readonly<Record<Mode, Defaults>> = {
  throughput: { ...LENGTH, animals: ANIMALS },
  smoke: { rounds: 2, seconds: 1, warmUp: 1, animals: ANIMALS },
  grow: { rounds: 5, seconds: 5, warmUp: 2, animals: GROWN },
  memory: { rounds: 1, seconds: 15, warmUp: 0, animals: 10_000 },
  connections: { ...LENGTH, animals: ANIMALS },
  soak: { rounds: 1, seconds: 600, warmUp: 20, animals: ANIMALS },
};

const POSTGRES = 'postgres://postgres@127.0.0.1:5432/postgres';
const REDIS = 'redis://127.0.0.1:6379/15';

export const USAGE = `Usage: npm run bench -- [OPTIONS]
Measures the service in every scenario, beside a bare server and peers, or what a mode below says.
Writes what was measured to bench/results/, a file for each mode.
  --scale       on PostgreSQL and Redis, beside a conventional build: ${SCALE.join(' and ')}
  --grow        throughput, memory and start as the catalogue grows; with --scale what a list costs in PostgreSQL
  --memory      what 100,000 accounts that called take of memory, and how late the event loop is meanwhile
  --connections what 10,000 idle connections take of memory and throughput
  --soak        memory and latency over ten minutes at full load
  --smoke       a minute and a half: exits 1 when a scenario fell by more than a quarter since bench/results/
  --rounds N    measurements of each server, of which the medians count (default ${LENGTH.rounds}; --grow ${DEFAULTS.grow.rounds})
  --seconds N   length of each measurement (default ${LENGTH.seconds}; --grow ${DEFAULTS.grow.seconds}; --memory ${DEFAULTS.memory.seconds}; all of --soak ${DEFAULTS.soak.seconds})
  --animals N   size of the catalogue (default ${ANIMALS}; --memory ${DEFAULTS.memory.animals}; the large one of --grow ${GROWN})
  --only NAME   this scenario only; may be repeated (${NAMES.join(', ')})
  --json        print one JSON value instead of the table
  --help        print this
With --rounds, --seconds, --animals or --only nothing is written.

BENCH_DATABASE_URL  where --scale and --grow make their databases (${POSTGRES})
BENCH_REDIS_URL     an empty database for --scale (${REDIS})`;

/**
 * Reads the command line; undefined when help is asked for.
 * @throws Error in one line that names what is wrong.
 */
export function readOptions(args: readonly string[], env: NodeJS.ProcessEnv): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      scale: { type: 'boolean', default: false },
      grow: { type: 'boolean', default: false },
      memory: { type: 'boolean', default: false },
      connections: { type: 'boolean', default: false },
      soak: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      animals: { type: 'string' },
      only: { type: 'string', multiple: true },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const { rounds, seconds, animals, only, json, scale } = values;
  const [mode = 'throughput', another] = MODE_NAMES.filter((name) => name !== 'throughput' && values[name]);
  if (another !== undefined) throw new Error(`--${mode} and --${another} are measured one at a time.`);
  if (scale && mode !== 'throughput' && mode !== 'grow')
    throw new Error(`--${mode} does not go with --scale.`);
  if (rounds !== undefined && (mode === 'memory' || mode === 'soak')) {
    throw new Error(`--${mode} does not go with --rounds: it measures once.`);
  }
  if (only !== undefined && mode !== 'throughput' && mode !== 'smoke') {
    throw new Error(`--${mode} does not go with --only.`);
  }
  const known = mode === 'smoke' ? ALL : NAMES;
  const unknown = only?.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(`--only: there is no scenario ${unknown}; there are ${known.join(', ')}.`);
  }
  const chosen = only ?? (scale ? SCALE : known);
  const defaults = DEFAULTS[mode];
  return {
    mode,
    scale,
    rounds: whole('--rounds', rounds, defaults.rounds, 1, 1_000),
    seconds: whole('--seconds', seconds, defaults.seconds, 1, 3_600),
    warmUp: defaults.warmUp,
    animals: whole('--animals', animals, defaults.animals, 100, 100_000_000),
    json,
    scenarios: SCENARIOS.filter(({ name }) => chosen.includes(name)),
    start: chosen.includes(START),
    servers: { postgres: env['BENCH_DATABASE_URL'] ?? POSTGRES, redis: env['BENCH_REDIS_URL'] ?? REDIS },
    complete: [rounds, seconds, animals, only].every((value) => value === undefined),
  };
}

function whole(option: string, value: string | undefined, without: number, from: number, to: number): number {
  if (value === undefined) return without;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= from && number <= to) return number;
  throw new Error(`${option} must be a whole number from ${from} to ${to}.`);
}
