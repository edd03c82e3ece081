// Contract: sections 8 and 13.
import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Event, type EventQuery, PetStore, PetStoreError } from '../../client/src/index.ts';
import { normalBase } from '../config/addresses.ts';
import { ConfigError } from '../config/config.ts';
import { SECOND } from '../domain/clock.ts';
import { toJson } from '../domain/json.ts';
import { reasonOf, StartupError } from '../domain/startup-error.ts';
import { TYPE_FILTERS } from '../resources/events/rules.ts';
import { newWebhookSecret } from '../resources/webhooks/rules.ts';
import { type ProgramTerminal, systemClock } from './context.ts';

interface ListenOptions {
  readonly forwardTo: URL;
  readonly type?: EventQuery['types'];
  readonly url?: string;
}

/** The service that `npm start` runs. */
const LOCAL_SERVICE = 'http://127.0.0.1:8080/v1';

/** Milliseconds that the local program has, as an endpoint of a webhook has. */
const ANSWER_TIME = 10 * SECOND;

const BASE_FAULT = 'must be an http or https address that ends in /v1';

const EXAMPLE = `
Example:
  PETSTORE_API_KEY=petstore_test_… petstore listen --forward-to http://localhost:3000/hooks --type 'order.*'

The key comes from PETSTORE_API_KEY. It needs no database and no webhook.`;

export function listenCommand(program: Command, { system, printLines }: ProgramTerminal): void {
  program
    .command('listen')
    .description('send the events of an API key to a local program, as a webhook would, until Ctrl-C')
    .requiredOption('--forward-to <url>', 'where the events go: any http or https URL', target)
    .addOption(
      new Option('--type <type...>', 'only these types: a type, all types of a kind, or all').choices(
        TYPE_FILTERS,
      ),
    )
    .option('--url <base>', `the service: PETSTORE_URL unless given, or else ${LOCAL_SERVICE}`, base)
    .addHelpText('after', EXAMPLE)
    .action(async ({ forwardTo, type, url }: ListenOptions) => {
      const { PETSTORE_API_KEY: apiKey, PETSTORE_URL: address } = system.env;
      // An empty variable counts as unset.
      if (!apiKey) throw new ConfigError('PETSTORE_API_KEY must be set to an API key');
      const baseUrl = url ?? normalBase(address || LOCAL_SERVICE);
      if (baseUrl === undefined) throw new ConfigError(`PETSTORE_URL ${BASE_FAULT}`);
      const { events } = new PetStore({ apiKey, baseUrl });
      const clock = systemClock();
      const secret = newWebhookSecret(randomBytes);
      async function* forwardAll(): AsyncGenerator<string> {
        // Read first, so that nothing is missed once the secret is printed.
        const { next } = await events.list({ after: 'now' });
        yield `Events of ${baseUrl} go to ${forwardTo.href}, signed with ${secret}`;
        for await (const page of events.follow({ after: next, types: type }))
          for (const event of page.events) {
            const status = await forward(event, forwardTo, secret, clock().unix);
            yield `${event.timestamp}  ${event.type}  ${event.id}  ${status}`;
          }
      }
      try {
        await printLines(forwardAll());
      } catch (error) {
        throw error instanceof PetStoreError ? new StartupError(error.message) : error;
      }
    });
}

/** Posts an event once, signed at `unix` (Unix milliseconds). Returns the status of the answer, or why there is none. */
async function forward(event: Event, url: URL, secret: string, unix: number): Promise<string> {
  // Loaded here, so that help does without it.
  const { signMessage } = await import('../resources/webhooks/send.ts');
  const body = toJson(event);
  const signed = signMessage({ id: event.id, body, secrets: [secret] }, unix);
  try {
    const { status, body: answer } = await fetch(url, {
      method: 'POST',
      headers: { ...signed, 'content-type': 'application/json', 'user-agent': 'Petstore-Webhooks' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_TIME),
    });
    await answer?.cancel();
    return String(status);
  } catch (error) {
    // fetch tells the reason only in the cause.
    return `failed: ${reasonOf(error instanceof TypeError ? (error.cause ?? error) : error)}`;
  }
}

function target(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new InvalidArgumentError('It must be an http or https URL.');
}

function base(text: string): string {
  const url = normalBase(text);
  if (url === undefined) throw new InvalidArgumentError(`It ${BASE_FAULT}.`);
  return url;
}
