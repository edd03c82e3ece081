import { connections } from './connections.ts';
import { growth } from './growth.ts';
import { accountsMemory } from './memory.ts';
import type { Options } from './options.ts';
import { soak } from './soak.ts';

/** What a mode found: for machines, and to be printed. */
export interface Outcome {
  readonly result: object;
  readonly text: string;
}

/** What can be measured besides the scenarios. */
export const MODES = { grow: growth, memory: accountsMemory, connections, soak } as const satisfies Record<
  string,
  (options: Options, signal: AbortSignal) => Promise<Outcome>
>;

export type Mode = keyof typeof MODES;

export const MODE_NAMES = Object.keys(MODES) as readonly Mode[];
