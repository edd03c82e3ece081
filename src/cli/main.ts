// Contract: section 8.
import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { ConfigError } from '../config/config.ts';
import { FEATURES } from '../resources/index.ts';
import { MESSAGE_LENGTH, ServiceError } from '../domain/errors.ts';
import { StartupError } from '../domain/startup-error.ts';
import { cutText } from '../domain/text.ts';
import { openTerminal, type ProgramTerminal } from './context.ts';
import { HELP_WIDTH, helpCommand, nameCommandsAfterErrors } from './help.ts';
import { ReaderStalled, RowsRefused, type System, type Wait } from '../terminal/output.ts';
import { printable } from '../terminal/printable.ts';

/** Adds a command to the program. */
type AddTo = (program: Command, terminal: ProgramTerminal) => void;

/** The hidden command that the completion of a shell asks. */
const COMPLETE = '__complete';

/** Those of the program itself, by name. A start loads only the command that it runs, because all of them would slow it down. */
const OWN_COMMANDS: Readonly<Record<string, () => Promise<AddTo>>> = {
  import: async () => (await import('./import.ts')).importCommand,
  seed: async () => (await import('./seed.ts')).seedCommand,
  export: async () => (await import('./export.ts')).exportCommand,
  backup: async () => (await import('./maintenance.ts')).backupCommand,
  restore: async () => (await import('./restore.ts')).restoreCommand,
  copy: async () => (await import('./copy.ts')).copyCommand,
  migrate: async () => (await import('./maintenance.ts')).migrateCommand,
  config: async () => (await import('./config.ts')).configCommand,
  check: async () => (await import('./check.ts')).checkCommand,
  completion: async () => (await import('./completion.ts')).completionCommand,
  help: async () => helpCommand,
};

const BY_FEATURES: readonly { readonly name: string; readonly commands?: typeof OWN_COMMANDS }[] = FEATURES;

/** What adds each command, in the order in which help lists them. A feature may add to the command of one below. */
const COMMANDS: readonly (readonly [name: string, load: () => Promise<AddTo>])[] = [
  ['serve', async () => (await import('./serve.ts')).serveCommand],
  ...BY_FEATURES.flatMap(({ commands = {} }) => Object.entries(commands)).toSorted(([one], [other]) =>
    one < other ? -1 : Number(one > other),
  ),
  ...Object.entries(OWN_COMMANDS),
];

/** What commander says of an argument that its parser refuses. The reason follows. */
const WRONG_ARGUMENT = /command-argument value '(?<value>.*)' is invalid for argument '(?<name>[^']*)'\./s;

const EPILOGUE = `
Configuration comes from environment variables: DATABASE_URL (sqlite:data/petstore.db unless set),
PETSTORE_ENVIRONMENT, HOST, PORT and those that petstore config shows. Commands need the same variables as the service.
Exit status: 0 done, 1 failed, 2 wrong use, 3 done but rows were refused (import).`;

/** Runs the command line `args`, without the name of the program. Never rejects, and returns the exit status. */
export async function main(args: readonly string[], system: System, wait?: Wait): Promise<number> {
  const [name, ...rest] = args;
  const terminal = openTerminal(system, wait);
  /** A reader such as `head` may close the pipe early. The command still does its work. */
  const onError = ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return;
    terminal.printError(`petstore: The output cannot be written: ${message}.`);
    system.exit(1);
  };
  system.stdout.on('error', onError);
  // Nobody can be told. The status tells how the command ended.
  system.stderr.on('error', () => undefined);
  try {
    const program = await createProgram(terminal, name);
    if (name === COMPLETE) {
      const { complete } = await import('./completion.ts');
      const [shell = '', ...words] = rest;
      system.stdout.write(complete(program, shell, words));
    } else await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    const status = exitStatus(error);
    for (const line of linesOf(error)) terminal.printError(`petstore: ${line}`);
    // Without this, Node.js would wait until the output is read.
    if (error instanceof ReaderStalled) system.exit(status);
    return status;
  }
}

/** The program with the command called `name`, or with all commands if it is not enough to answer. */
export async function createProgram(terminal: ProgramTerminal, name = ''): Promise<Command> {
  const { system } = terminal;
  // These settings come first, because commands that are added later inherit them.
  const program = new Command('petstore')
    .description('A catalogue of animals for adoption: the service and the commands of its operator.')
    .version(manifest.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void system.stdout.write(text),
      writeErr: (text) => void system.stderr.write(text),
      // A terminal that does not know its width has 0.
      getOutHelpWidth: () => system.stdout.columns || HELP_WIDTH,
      getErrHelpWidth: () => system.stderr.columns || HELP_WIDTH,
      outputError: (text, write) =>
        write(
          text
            .replace(/^error:/, 'petstore:')
            .replace(WRONG_ARGUMENT, "argument <$<name>> cannot be '$<value>'.")
            .split('\n')
            .map((line) => printable(cutText(line, MESSAGE_LENGTH)))
            .join('\n'),
        ),
    })
    .addHelpText('after', EPILOGUE);
  // These two describe all commands.
  const isEnough = COMMANDS.some(([command]) => command === name) && name !== 'completion' && name !== 'help';
  for (const [command, load] of COMMANDS)
    if (command === name || !isEnough) (await load())(program, terminal);
  nameCommandsAfterErrors(program);
  return program;
}

/** 0: the user asked for help. 1: the command failed. 2: wrong use. 3: it refused rows. */
function exitStatus(error: unknown): 0 | 1 | 2 | 3 {
  if (error instanceof RowsRefused) return 3;
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const isWrongUse = error instanceof ServiceError && error.code === 'invalid_parameter';
  return isWrongUse || error instanceof ConfigError ? 2 : 1;
}

/** One line for each error. Only an unexpected error shows its stack. */
function linesOf(error: unknown): readonly string[] {
  // Their lines are written already.
  if (error instanceof CommanderError || error instanceof RowsRefused) return [];
  if (error instanceof ConfigError) return error.message.split('\n');
  if (error instanceof StartupError) return [error.message];
  if (error instanceof ServiceError) return [withCause(error)];
  if (isFolderLost(error)) return ['The working folder was deleted: change to one that exists.'];
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `unexpected error, please report it: ${stack}`.split('\n');
}

/** Whether Node.js could not tell the working folder, which relative paths and threads need. */
function isFolderLost(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';
}

/** Adds why the store is down. The API does not tell its callers, but the operator needs to know. */
function withCause({ code, message, cause }: ServiceError): string {
  return code === 'unavailable' && cause instanceof Error ? `${message} (${cause.message})` : message;
}
