import { Command } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { accountsCommands } from './accounts.ts';
import { backupCommand } from './backup.ts';
import { bansCommands } from './bans.ts';
import { copyCommand } from './copy.ts';
import { exportCommand } from './export.ts';
import { failureOf } from './failure.ts';
import { importCommand } from './import.ts';
import { keysCommands } from './keys.ts';
import { migrateCommand } from './migrate.ts';
import { printable, printError } from './output.ts';
import { seedCommand } from './seed.ts';
import { serveCommand } from './serve.ts';
import { usageCommand } from './usage.ts';
import { ReaderStalled, systemWait, type Wait } from './write-pieces.ts';

/** In the order in which help lists them. */
const COMMANDS: readonly ((program: Command, wait: Wait) => void)[] = [
  serveCommand,
  accountsCommands,
  keysCommands,
  bansCommands,
  usageCommand,
  importCommand,
  seedCommand,
  exportCommand,
  backupCommand,
  copyCommand,
  migrateCommand,
];

const EPILOGUE = `
Configuration comes from environment variables: DATABASE_URL (sqlite:data/petstore.db unless set),
PETSTORE_ENVIRONMENT, HOST, PORT and those that the README lists. Commands must be given what the service was given.
Exit status: 0 done, 1 failed, 2 wrong use.`;

/** Runs the command line `argv` (as in `process.argv`) and sets the exit code. Never rejects. */
export async function main(argv: readonly string[], wait: Wait = systemWait): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', outputFault);
  try {
    await createProgram(wait).parseAsync(argv);
  } catch (error) {
    const { lines, exitCode } = failureOf(error);
    for (const line of lines) printError(`petstore: ${line}`);
    process.exitCode = exitCode;
    // Node.js would wait for the output to be read.
    if (error instanceof ReaderStalled) process.exit();
  }
}

function createProgram(wait: Wait): Command {
  // Commands made below inherit these settings, so they come first.
  const program = new Command('petstore')
    .description('A catalogue of animals for adoption: the service and everything its operator does.')
    .version(manifest.version)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) =>
        write(
          text
            .replace(/^error:/, 'petstore:')
            .split('\n')
            .map(printable)
            .join('\n'),
        ),
    })
    .addHelpText('after', EPILOGUE);
  for (const addTo of COMMANDS) addTo(program, wait);
  return program;
}

/** A reader such as `head` may close the pipe when it has enough: what was asked for is done all the same. */
function outputFault({ code, message }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return;
  printError(`petstore: The output cannot be written: ${message}.`);
  process.exit(1);
}
