import { parseArgs } from 'node:util';
import { SCENARIOS } from './scenarios.ts';
import type { Servers } from './stores.ts';

export interface Options {
  readonly rounds: number;
  /** Of each measurement. */
  readonly seconds: number;
  readonly animals: number;
  readonly json: boolean;
  /** What to measure instead of requests per second: what a list costs as the catalogue grows. */
  readonly grow: boolean;
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

const POSTGRES = 'postgres://postgres@127.0.0.1:5432/postgres';
const REDIS = 'redis://127.0.0.1:6379/15';

export const USAGE = `Usage: npm run bench -- [OPTIONS]
  --scale       the service on PostgreSQL and Redis, beside a conventional build: ${SCALE.join(' and ')}
  --grow        what a list costs in PostgreSQL as the catalogue grows, at the store
  --rounds N    measurements of each server, of which the medians count (default 5)
  --seconds N   length of each measurement (default 5)
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
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '5' },
      animals: { type: 'string' },
      only: { type: 'string', multiple: true },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const { scale, grow, json, only } = values;
  if (grow && (scale || only !== undefined)) throw new Error('--grow goes with neither --scale nor --only.');
  const unknown = only?.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) {
    throw new Error(`--only: there is no scenario ${unknown}; there are ${NAMES.join(', ')}.`);
  }
  const chosen = only ?? (scale ? SCALE : ALONE);
  const animals = values.animals ?? `${grow ? GROWN : ANIMALS}`;
  return {
    rounds: whole('--rounds', values.rounds, 1, 1_000),
    seconds: whole('--seconds', values.seconds, 1, 3_600),
    animals: whole('--animals', animals, 100, 100_000_000),
    json,
    grow,
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
