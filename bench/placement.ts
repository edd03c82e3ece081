import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { pid } from 'node:process';

const CORES = { server: 0, load: 1 } as const;

/** Returns the command line that keeps the command on the core of its role. */
export type Placement = (role: keyof typeof CORES, command: readonly string[]) => readonly string[];

/** Pins each role to its own core, and this process to that of the load. If that is impossible, returns the reason. */
export function pinToCores(): { place: Placement; unpinned?: string } {
  const unpinned = reasonAgainst();
  if (unpinned !== undefined) return { place: (_role, command) => command, unpinned };
  // This process reads the log of the service, and must not take time from it.
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', `${CORES.load}`, `${pid}`]);
  return { place: (role, command) => ['taskset', '-c', `${CORES[role]}`, ...command] };
}

export function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}

function reasonAgainst(): string | undefined {
  if (availableParallelism() < 2) return 'there is only one core';
  return isInstalled('taskset') ? undefined : 'taskset (package util-linux) is missing';
}
