import { cpus } from 'node:os';
import { count } from './table.ts';

export interface Machine {
  readonly node: string;
  readonly cpu: string;
}

/** Where something is measured. */
export function machine(): Machine {
  return { node: process.version, cpu: cpus()[0]?.model ?? 'unknown' };
}

export interface Setting extends Machine {
  readonly animals: number;
  readonly rounds: number;
  readonly seconds: number;
}

export function settingLine({ node, cpu, animals, rounds, seconds }: Setting): string {
  return `Node ${node}, ${cpu}; ${count(animals)} animals; medians of ${rounds} rounds of ${seconds} s`;
}
