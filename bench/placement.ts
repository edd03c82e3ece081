import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { pid } from 'node:process';

export type Role = 'server' | 'load';

const CORES = { server: 0, load: 1 } as const satisfies Record<Role, number>;

/** Puts in front of a command line what keeps its process on the core of its role. */
export type Placement = (role: Role, command: readonly string[]) => readonly string[];

/** Each role on a core of its own, this process on that of the load; or where that cannot be, no placement and the reason. */
export function findPlacement(): { place: Placement; unpinned?: string } {
  const unpinned = reasonAgainst();
  if (unpinned !== undefined) return { place: (_role, command) => command, unpinned };
  // This process reads what the service logs, which must not take time from it.
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
