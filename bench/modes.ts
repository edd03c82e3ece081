import { connections } from './connections.ts';
import { growth } from './growth.ts';
import { accountsMemory } from './memory.ts';
import type { Options } from './options.ts';
import { smoke } from './smoke.ts';
import { soak } from './soak.ts';
import { throughput } from './throughput.ts';

/** What a mode found: for machines, and to be printed. */
export interface Outcome {
  /** Values that JSON can hold. */
  readonly result: object;
  readonly text: string;
  /** What makes the figures doubtful. */
  readonly warnings?: readonly string[];
  /** Whether a check did not hold. */
  readonly failed?: boolean;
}

/** What can be measured: the scenarios, or what a flag of this name chooses. */
export const MODES = {
  throughput,
  smoke,
  grow: growth,
  memory: accountsMemory,
  connections,
  soak,
} as const satisfies Record<string, (options: Options, signal: AbortSignal) => Promise<Outcome>>;

export type Mode = keyof typeof MODES;

export const MODE_NAMES = Object.keys(MODES) as readonly Mode[];
