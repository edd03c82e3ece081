import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { program } from './servers.ts';

const run = promisify(execFile);

/** @throws MissingProgram */
function findPromtool(): string {
  return program('promtool', 'prometheus');
}

/** @throws MissingProgram */
function findSystemdAnalyze(): string {
  return program('systemd-analyze', 'systemd');
}

/** Rejects with what amtool prints when it finds a fault. Returns its output. */
export async function amtool(...args: readonly string[]): Promise<string> {
  return (await run(program('amtool', 'prometheus-alertmanager'), args)).stdout;
}

/** Rejects with what promtool prints when it finds a fault. */
export async function promtool(...args: readonly string[]): Promise<void> {
  await run(findPromtool(), args);
}

/** Rejects with what systemd-analyze prints when it finds a fault. Returns its warnings. */
export async function systemdAnalyze(...args: readonly string[]): Promise<string> {
  return (await run(findSystemdAnalyze(), args)).stderr;
}
