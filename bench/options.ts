import { parseArgs } from 'node:util';
import { SCENARIOS } from './scenarios.ts';
import { MODE_NAMES, type Mode } from './modes.ts';
import type { Servers } from './stores.ts';

export interface Options {
  readonly rounds: number;
  /** Of each measurement. */
  readonly seconds: number;
  readonly animals: number;
  readonly json: boolean;
  /** What to measure instead of the scenarios. */
  readonly mode: Mode | undefined;
  /** With PostgreSQL, Redis and a peer, instead of with the service alone. */
  readonly scale: boolean;
  readonly scenarios: typeof SCENARIOS;
  /** Whether to measure how the service starts. */
  readonly start: boolean;
  readonly servers: Servers;
}

const START = 'start';
const NAMES = [...SCENARIOS.map(({ name }) => name), START];

/** What is measured when nothing is chosen. */
const ALONE = NAMES;
const SCALE = ['list', 'create'];

const ANIMALS = 1_000_000;
const GROWN = 10_000_000;

const SECONDS = 5;
const SECONDS_OF: Partial<Record<Mode, number>> = { memory: 15, soak: 600 };

const POSTGRES = 'postgres://postgres@127.0.0.1:5432/postgres';
const REDIS = 'redis://127.0.0.1:6379/15';

export const USAGE = `Usage: npm run bench -- [OPTIONS]
  --scale       the service on PostgreSQL and Redis, beside a conventional build: ${SCALE.join(' and ')}
  --grow        throughput, memory and start as the catalogue grows; with --scale what a list costs in PostgreSQL
  --memory      what 100,000 accounts that called take of it, and how long requests wait meanwhile
  --connections what 10,000 idle connections take of memory and throughput
  --soak        memory and latency over ten minutes at full load
  --rounds N    measurements of each server, of which the medians count (default 5)
  --seconds N   length of each measurement (default ${SECONDS}; ${SECONDS_OF.memory} with --memory), of all of --soak (${SECONDS_OF.soak})
  --animals N   size of the catalogue (default ${ANIMALS}; with --grow of the large one, ${GROWN})
  --only NAME   this scenario only; may be repeated (${NAMES.join(', ')})
  --json        print one JSON value instead of the table
  --help        print this

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
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string' },
      animals: { type: 'string' },
      only: { type: 'string', multiple: true },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const { scale, json, only } = values;
  const [mode, another] = MODE_NAMES.filter((name) => values[name]);
  if (mode !== undefined && (another !== undefined || only !== undefined || (scale && mode !== 'grow'))) {
    throw new Error(
      `--${mode} goes with no other choice of what to measure${mode === 'grow' ? ' but --scale' : ''}.`,
    );
  }
  const unknown = only?.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) {
    throw new Error(`--only: there is no scenario ${unknown}; there are ${NAMES.join(', ')}.`);
  }
  const chosen = only ?? (scale ? SCALE : ALONE);
  const animals = values.animals ?? `${mode === 'grow' ? GROWN : ANIMALS}`;
  const seconds = values.seconds ?? `${(mode && SECONDS_OF[mode]) ?? SECONDS}`;
  return {
    rounds: whole('--rounds', values.rounds, 1, 1_000),
    seconds: whole('--seconds', seconds, 1, 3_600),
    animals: whole('--animals', animals, 100, 100_000_000),
    json,
    mode,
    scale,
    scenarios: SCENARIOS.filter(({ name }) => chosen.includes(name)),
    start: chosen.includes(START),
    servers: { postgres: env['BENCH_DATABASE_URL'] ?? POSTGRES, redis: env['BENCH_REDIS_URL'] ?? REDIS },
  };
}

function whole(option: string, value: string, from: number, to: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= from && number <= to) return number;
  throw new Error(`${option} must be a whole number from ${from} to ${to}.`);
}
