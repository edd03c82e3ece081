import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * What each test file costs: seconds of processor time of its process, and of the processes that this one started and saw end.
 */

/** Ticks of a second in /proc, on every Linux. */
const TICKS = 100;

/** Seconds of processor time so far. Systems without /proc count this process alone. */
export function measureProcessorTime(): number {
  if (!existsSync('/proc/self/stat')) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // The name of the program, in parentheses, may hold spaces. Then: state, ten more fields, utime, stime, cutime, cstime.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
}

/** Keeps the cost of a file for the process that runs all of them. */
export function noteCost(folder: string, file: string, seconds: number): void {
  writeFileSync(join(folder, `${file.replaceAll('/', '%')}.cost`), String(seconds));
}

/** The files that cost most, dearest first. */
export function readCosts(folder: string, count: number): readonly { file: string; seconds: number }[] {
  return globSync('*.cost', { cwd: folder })
    .map((name) => ({
      file: name.slice(0, -'.cost'.length).replaceAll('%', '/'),
      seconds: Number(readFileSync(join(folder, name), 'utf8')),
    }))
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, count);
}
