#!/usr/bin/env node
import { PetStoreError } from './errors.ts';
import { listen } from './listen.ts';
import type { ListEventsQuery } from './schema.ts';

const HELP = `Usage: petstore-client listen --forward-to URL [--type TYPE ...] [--url BASE]

Sends the events of an API key to a local program, as a webhook would, until Ctrl-C.

  --forward-to URL  where the events go: any http or https URL
  --type TYPE ...   only these types: a type, all types of a kind ('order.*'), or all ('*')
  --url BASE        the service: PETSTORE_URL unless given, or else production

The key comes from PETSTORE_API_KEY.

Example:
  PETSTORE_API_KEY=petstore_live_… npx petstore-client listen --forward-to http://localhost:3000/hooks`;

/** Wrong use of the program. */
class UsageError extends Error {}

interface Options {
  readonly forwardTo: URL;
  readonly types: string[] | undefined;
  readonly baseUrl: string | undefined;
}

/** Each option has one value, except --type. */
function readArguments([command, ...args]: readonly string[]): Options {
  if (command !== 'listen')
    throw new UsageError(command === undefined ? 'name a command: listen.' : 'the only command is listen.');
  const values: Record<string, string[]> = { '--forward-to': [], '--type': [], '--url': [] };
  let name = '';
  for (const word of args) {
    const [, option, value] = /^(--[a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (option !== undefined) name = option;
    const texts = values[name];
    if (texts === undefined) throw new UsageError(`there is no option ${option ?? `for "${word}"`}.`);
    const text = option === undefined ? word : value;
    if (text !== undefined) texts.push(text);
  }
  const { '--forward-to': targets = [], '--type': types = [], '--url': bases = [] } = values;
  const [forwardTo] = targets;
  const target = forwardTo === undefined ? undefined : httpUrl(forwardTo);
  if (target === undefined || targets.length > 1)
    throw new UsageError('--forward-to must be an http or https URL.');
  if (bases.length > 1) throw new UsageError('--url must be one address.');
  return { forwardTo: target, types: types.length > 0 ? types : undefined, baseUrl: bases[0] };
}

function httpUrl(text: string): URL | undefined {
  try {
    const url = new URL(text);
    return /^https?:$/.test(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the exit status: 1 when it failed, 2 for wrong use. */
async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(HELP);
    return 0;
  }
  try {
    const { forwardTo, types, baseUrl } = readArguments(args);
    // The service refuses what is no type.
    const query = { forwardTo, types: types as ListEventsQuery['type'] };
    for await (const line of listen({ baseUrl }, query)) console.log(line);
    return 0;
  } catch (error) {
    if (error instanceof PetStoreError) {
      console.error(`petstore-client: ${error.message}`);
      return 1;
    }
    // The client throws TypeError for wrong options and variables.
    if (!(error instanceof UsageError || error instanceof TypeError)) throw error;
    console.error(`petstore-client: ${error.message}`);
    return 2;
  }
}

/** What it needs of Node.js, whose types the package does without. */
interface Program {
  readonly argv: readonly string[];
  readonly stdout: { on(event: 'error', listener: () => void): void };
  exitCode: number;
  exit(): void;
}

const { process } = globalThis as unknown as { process: Program };
// A reader such as `head` may close the pipe.
process.stdout.on('error', () => process.exit());
process.exitCode = await main(process.argv.slice(2));
