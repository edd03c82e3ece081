import { cpus } from 'node:os';
import type { Options } from './options.ts';
import { count } from './table.ts';

/** What figures are compared with that grow: so many animals. */
export const SMALL = 10_000;

/** Where and how long something was measured, in one line. */
export function settingLine({
  animals,
  rounds,
  seconds,
}: Pick<Options, 'animals' | 'rounds' | 'seconds'>): string {
  const length = rounds === 1 ? `${seconds} s` : `medians of ${rounds} rounds of ${seconds} s`;
  return `Node ${process.version}, ${cpus()[0]?.model ?? 'unknown'}; ${count(animals)} animals; ${length}`;
}
