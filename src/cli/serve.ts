import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { pino } from 'pino';
import { type Config, readConfig } from '../config.ts';
import { type Service, startService } from '../main.ts';
import { announceFirstKey } from './first-key.ts';
import { LOG_FORMAT, LogChunks } from './log-chunks.ts';
import { systemClock } from './with-store.ts';

/** Bytes of log that may wait to be written. */
const LOG_BACKLOG = 16 * 1024 * 1024;

/** How long the end waits for the rest of the log to be read, in milliseconds. */
const LOG_PATIENCE = 1_000;

/** The service must be gone this many milliseconds after it was told to stop, whatever it waits for. */
const STOP_DEADLINE = 9_500;

export function serveCommand(program: Command): void {
  program
    .command('serve')
    .description('run the service until SIGTERM or SIGINT; a second signal ends it at once')
    .option('--first-key', 'when there is no key yet, make one for the account "default" and show it once')
    .action((options: { firstKey?: true }) => serve(readConfig(), options.firstKey === true));
}

async function serve(config: Config, firstKey: boolean): Promise<void> {
  // Written beside the service's work: who does not read the log must not hold it up, and at worst misses lines.
  const destination = pino.destination({ dest: 1, sync: false, maxLength: LOG_BACKLOG });
  const chunks = new LogChunks(destination);
  // However the process ends, it says why; but for a kill.
  process.once('exit', () => chunks.flushSync());
  const log = pino({ ...LOG_FORMAT, level: config.logLevel, timestamp: isoTime() }, chunks);
  // Before anything is announced: who reads "listening" may send a signal at once.
  const stopSignal = nextSignal();
  const clock = systemClock();
  const service = await startService(config, { clock, log });
  try {
    if (firstKey) {
      // The key stands below what was logged so far, wherever both are seen together.
      chunks.flushSync();
      await announceFirstKey(service, config.environment);
    }
    await stopSignal;
  } finally {
    const deadline = setTimeout(() => {
      log.fatal('the service did not stop in time');
      // Not process.exit, which waits for a log that nobody reads.
      process.kill(process.pid, 'SIGKILL');
    }, STOP_DEADLINE);
    // Left running: it also ends a process that something keeps alive after the stop.
    deadline.unref();
    await stopAndLog(service, async () => {
      chunks.end();
      await writeOut(destination);
    });
  }
}

/** Stops the service, and then, whatever became of that, its log. */
async function stopAndLog(service: Service, endLog: () => Promise<void>): Promise<void> {
  try {
    await service.stop();
  } catch (error) {
    // Also when the rest of the log ends the process.
    process.exitCode = 1;
    throw error;
  } finally {
    await endLog();
  }
}

/** The time as pino writes it, made once a millisecond. */
function isoTime(): () => string {
  let last = Number.NaN;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

/** Ends the log. What nobody reads in time is dropped, and with it what pino would wait for for ever. */
async function writeOut(destination: ReturnType<typeof pino.destination>): Promise<void> {
  const written = new Promise<true>((resolve) => destination.once('close', () => resolve(true)));
  destination.end();
  if ((await Promise.race([written, wait(LOG_PATIENCE, undefined, { ref: false })])) === true) return;
  destination.destroy();
  process.exit();
}

/** Resolves at the first SIGTERM or SIGINT. The second one is the system's again: it ends the process, whatever it does. */
function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    const signals = ['SIGTERM', 'SIGINT'] as const;
    const stop = () => {
      for (const signal of signals) process.off(signal, stop);
      resolve();
    };
    for (const signal of signals) process.on(signal, stop);
  });
}
