import { parseArgs } from 'node:util';
import { SCENARIOS } from './scenarios.ts';

export interface Options {
  readonly rounds: number;
  /** Of each measurement. */
  readonly seconds: number;
  readonly animals: number;
  readonly scenarios: typeof SCENARIOS;
  readonly json: boolean;
}

const NAMES = SCENARIOS.map(({ name }) => name).join(', ');

export const USAGE = `Usage: npm run bench -- [OPTIONS]
  --rounds N    measurements of each server, of which the medians count (default 5)
  --seconds N   length of each measurement (default 5)
  --animals N   size of the catalogue (default 1000000)
  --only NAME   this scenario only; may be repeated (${NAMES})
  --json        print one JSON value instead of the table
  --help        print this`;

/**
 * Reads the command line; undefined when help is asked for.
 * @throws Error in one line that names what is wrong.
 */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '5' },
      animals: { type: 'string', default: '1000000' },
      only: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const unknown = values.only.find((only) => !SCENARIOS.some(({ name }) => name === only));
  if (unknown !== undefined) throw new Error(`--only: there is no scenario ${unknown}; there are ${NAMES}.`);
  return {
    rounds: whole('--rounds', values.rounds, 1, 1_000),
    seconds: whole('--seconds', values.seconds, 1, 3_600),
    animals: whole('--animals', values.animals, 100, 100_000_000),
    scenarios: SCENARIOS.filter(({ name }) => values.only.length === 0 || values.only.includes(name)),
    json: values.json,
  };
}

function whole(option: string, value: string, from: number, to: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= from && number <= to) return number;
  throw new Error(`${option} must be a whole number from ${from} to ${to}.`);
}
