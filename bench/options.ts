import { parseArgs } from 'node:util';
import { SCENARIOS } from './scenarios.ts';

/** `throughput` measures every scenario. Each other mode has a flag of its name. */
export const MODES = ['throughput', 'smoke', 'grow', 'memory', 'soak'] as const;
export type Mode = (typeof MODES)[number];

export interface Options {
  readonly mode: Mode;
  /** On PostgreSQL and Redis, compared with the peer. */
  readonly scale: boolean;
  readonly rounds: number;
  /** Length of each measurement. */
  readonly seconds: number;
  /** Seconds of load that do not count. */
  readonly warmUp: number;
  readonly animals: number;
  readonly scenarios: typeof SCENARIOS;
  /** Whether the mode measures everything at its full length. Only then its results are written. */
  readonly complete: boolean;
}

const NAMES = SCENARIOS.map(({ name }) => name);
const SCALE = SCENARIOS.filter(({ scaleGoals }) => scaleGoals !== undefined).map(({ name }) => name);

/** Many short rounds, because other programs disturb only some of them. */
const COMMON = { rounds: 5, seconds: 3, warmUp: 2, animals: 1_000_000 };

const DEFAULTS: Readonly<Record<Mode, typeof COMMON>> = {
  throughput: COMMON,
  grow: { ...COMMON, seconds: 5, animals: 10_000_000 },
  memory: { rounds: 1, seconds: 15, warmUp: 0, animals: 10_000 },
  soak: { ...COMMON, rounds: 1, seconds: 600, warmUp: 20 },
  smoke: { ...COMMON, rounds: 2, seconds: 1, warmUp: 1 },
};

export const USAGE = `Usage: npm run bench -- [OPTIONS]
Measures the service in every scenario, compared with a bare server and the peer. Modes measure something else.
Writes the results to bench/results/, one file for each mode.
  --scale       ${SCALE.join(' and ')} on PostgreSQL and Redis, compared with the peer
  --grow        throughput, memory and start with ten million animals, compared with ten thousand; also with --scale
  --memory      memory of 100,000 accounts and of 10,000 idle connections
  --soak        memory and latency over ten minutes at full load
  --smoke       a minute and a half: exits with 1 if a scenario is more than a quarter slower than in bench/results/
  --rounds N    measurements of each server, of which the medians count (default ${COMMON.rounds})
  --seconds N   length of each measurement (default ${COMMON.seconds}; --grow ${DEFAULTS.grow.seconds}; --memory ${DEFAULTS.memory.seconds}; all of --soak ${DEFAULTS.soak.seconds})
  --animals N   size of the catalogue (default ${COMMON.animals}; --memory ${DEFAULTS.memory.animals}; the large one of --grow ${DEFAULTS.grow.animals})
  --only NAME   this scenario only; may be repeated (${NAMES.join(', ')})
  --help        print this help
A run with --rounds, --seconds, --animals or --only writes no results.`;

const FLAG = { type: 'boolean', default: false } as const;

/**
 * Reads the command line. Returns undefined for --help.
 * @throws Error with one line that names the fault.
 */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      scale: FLAG,
      grow: FLAG,
      memory: FLAG,
      soak: FLAG,
      smoke: FLAG,
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      animals: { type: 'string' },
      only: { type: 'string', multiple: true },
      help: FLAG,
    },
  });
  if (values.help) return undefined;
  const { rounds, seconds, animals, only, scale } = values;
  const [mode = 'throughput', another] = MODES.filter((name) => name !== 'throughput' && values[name]);
  if (another !== undefined) throw new Error(`--${mode} and --${another} cannot be measured together.`);
  if (scale && mode !== 'throughput' && mode !== 'grow')
    throw new Error(`--${mode} does not go with --scale.`);
  if (rounds !== undefined && DEFAULTS[mode].rounds === 1) {
    throw new Error(`--${mode} does not go with --rounds: it measures once.`);
  }
  if (only !== undefined && mode !== 'throughput' && mode !== 'smoke') {
    throw new Error(`--${mode} does not go with --only.`);
  }
  const unknown = only?.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) {
    throw new Error(`--only: there is no scenario ${unknown}; there are ${NAMES.join(', ')}.`);
  }
  const chosen = only ?? (scale ? SCALE : NAMES);
  const defaults = DEFAULTS[mode];
  return {
    mode,
    scale,
    rounds: wholeNumber('--rounds', rounds, 1, 1_000) ?? defaults.rounds,
    seconds: wholeNumber('--seconds', seconds, 1, 3_600) ?? defaults.seconds,
    warmUp: defaults.warmUp,
    animals: wholeNumber('--animals', animals, 100, 100_000_000) ?? defaults.animals,
    scenarios: SCENARIOS.filter(({ name }) => chosen.includes(name)),
    complete: [rounds, seconds, animals, only].every((value) => value === undefined),
  };
}

function wholeNumber(option: string, value: string | undefined, from: number, to: number) {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= from && number <= to) return number;
  throw new Error(`${option} must be a whole number from ${from} to ${to}.`);
}
