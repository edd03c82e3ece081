import { constants } from 'node:os';
import type { Command } from 'commander';
import { pino } from 'pino';
import { type Config, readConfig } from '../config.ts';
import { startService } from '../main.ts';
import { announceFirstKey } from './first-key.ts';
import { systemClock } from './with-store.ts';

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
  const log = pino(
    {
      level: config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    pino.destination(1),
  );
  // Before anything is announced: who reads "listening" may send a signal at once.
  const stopSignal = nextSignal();
  const clock = systemClock();
  const service = await startService(config, { clock, log });
  try {
    if (firstKey) await announceFirstKey(service, config.environment);
    await stopSignal;
  } finally {
    const deadline = setTimeout(() => {
      log.fatal('the service did not stop in time');
      process.exit(1);
    }, STOP_DEADLINE);
    // Left running: it also ends a process that something keeps alive after the stop.
    deadline.unref();
    await service.stop();
  }
}

/** Resolves at the first SIGTERM or SIGINT; the second one ends the process. */
function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    let signalled = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        // What a shell reports of a process that the signal killed.
        if (signalled) process.exit(128 + constants.signals[signal]);
        signalled = true;
        resolve();
      });
    }
  });
}
