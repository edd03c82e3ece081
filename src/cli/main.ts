// Contract: section 8.
import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { ConfigError } from '../config/config.ts';
import { ServiceError } from '../domain/errors.ts';
import { StartupError } from '../domain/startup-error.ts';
import type { Wait } from './export.ts';
import { TERMINAL } from './context.ts';
import type { Terminal } from '../terminal/command.ts';
import type { Store } from '../resources/repositories.ts';
import { helpCommand, nameCommandsAfterErrors } from './help.ts';
import { printable, printError, ReaderStalled } from '../terminal/output.ts';

/** Adds a command to the program. Those of a resource get the terminal, those of the program itself may wait. */
type AddTo = (program: Command, terminal: Terminal<Store>, wait?: Wait) => void;

/** The hidden command that the completion of a shell asks. */
const COMPLETE = '__complete';

/** In the order in which help lists them. A start loads only the command that it runs, because all of them take 25 ms. */
const COMMANDS: Readonly<Record<string, () => Promise<AddTo>>> = {
  serve: async () => (await import('./serve.ts')).serveCommand,
  accounts: async () => (await import('../resources/accounts/commands.ts')).accountsCommands,
  keys: async () => (await import('../resources/keys/commands.ts')).keysCommands,
  bans: async () => (await import('../resources/bans/commands.ts')).bansCommands,
  usage: async () => (await import('../resources/usage/commands.ts')).usageCommands,
  deprecations: async () => (await import('../resources/deprecations/commands.ts')).deprecationsCommands,
  categories: async () => (await import('../resources/categories/commands.ts')).categoriesCommands,
  orders: async () => (await import('../resources/orders/commands.ts')).ordersCommands,
  import: async () => (await import('./import.ts')).importCommand,
  seed: async () => (await import('./seed.ts')).seedCommand,
  export: async () => (await import('./export.ts')).exportCommand,
  operators: async () => (await import('../resources/operators/commands.ts')).operatorsCommands,
  console: async () => (await import('../resources/operators/commands.ts')).consoleCommand,
  audit: async () => (await import('../resources/audit/commands.ts')).auditCommands,
  backup: async () => (await import('./maintenance.ts')).backupCommand,
  copy: async () => (await import('./copy.ts')).copyCommand,
  migrate: async () => (await import('./maintenance.ts')).migrateCommand,
  config: async () => (await import('./config.ts')).configCommand,
  completion: async () => (await import('./completion.ts')).completionCommand,
  help: async () => helpCommand,
};

const EPILOGUE = `
Configuration comes from environment variables: DATABASE_URL (sqlite:data/petstore.db unless set),
PETSTORE_ENVIRONMENT, HOST, PORT and those that petstore config shows. Commands need the same variables as the service.
Exit status: 0 done, 1 failed, 2 wrong use.`;

/** Runs the command line `argv` (as in `process.argv`) and sets the exit code. Never rejects. */
export async function main(argv: readonly string[], wait?: Wait): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', outputFault);
  try {
    const program = await createProgram(argv[2], wait);
    if (argv[2] === COMPLETE) {
      const { complete } = await import('./completion.ts');
      process.stdout.write(complete(program, argv[3] ?? '', argv.slice(4)));
    } else await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    for (const line of linesOf(error)) printError(`petstore: ${line}`);
    // Without this, Node.js would wait until the output is read.
    if (error instanceof ReaderStalled) process.exit();
  }
}

/** The program with the command called `name`, or with all commands if it is not enough to answer. */
export async function createProgram(name = '', wait?: Wait): Promise<Command> {
  // These settings come first, because commands that are added later inherit them.
  const program = new Command('petstore')
    .description('A catalogue of animals for adoption: the service and the commands of its operator.')
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
  // These two describe all commands.
  const isEnough = Object.hasOwn(COMMANDS, name) && name !== 'completion' && name !== 'help';
  for (const [command, load] of Object.entries(COMMANDS))
    if (command === name || !isEnough) (await load())(program, TERMINAL, wait);
  nameCommandsAfterErrors(program);
  return program;
}

/** 0: the user asked for help. 1: the command failed. 2: wrong use. */
function exitCodeOf(error: unknown): 0 | 1 | 2 {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const isWrongUse = error instanceof ServiceError && error.code === 'invalid_parameter';
  return isWrongUse || error instanceof ConfigError ? 2 : 1;
}

/** One line for each fault. Only an unexpected error shows its stack. */
function linesOf(error: unknown): readonly string[] {
  // Commander has already written its line.
  if (error instanceof CommanderError) return [];
  if (error instanceof ConfigError) return error.message.split('\n');
  if (error instanceof StartupError) return [error.message];
  if (error instanceof ServiceError) return [withCause(error)];
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `unexpected error, please report it: ${stack}`.split('\n');
}

/** Adds why the store is down. The API does not tell its callers, but the operator needs to know. */
function withCause({ code, message, cause }: ServiceError): string {
  return code === 'unavailable' && cause instanceof Error ? `${message} (${cause.message})` : message;
}

/** A reader such as `head` may close the pipe early. The command still does its work. */
function outputFault({ code, message }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return;
  printError(`petstore: The output cannot be written: ${message}.`);
  process.exit(1);
}
