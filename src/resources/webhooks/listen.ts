// Contract: sections 8 and 13.
import { InvalidArgumentError } from 'commander';
import type { EventQuery } from '../../../client/src/events.ts';
import { PetStoreError } from '../../../client/src/errors.ts';
import { normalBase } from '../../config/addresses.ts';
import { ConfigError } from '../../config/config.ts';
import { StartupError } from '../../domain/startup-error.ts';
import { TYPE_FILTERS } from '../events/rules.ts';
import { ownCommand, type Terminal } from '../../terminal/command.ts';
import { choices, NO_JSON, option, required } from '../../terminal/takers.ts';

/** The service that `npm start` runs. */
const LOCAL_SERVICE = 'http://127.0.0.1:8080/v1';

const BASE_ISSUE = 'must be an http or https address that ends in /v1';

export const listenCommand = ownCommand('listen', {
  description: 'send the events of an API key to a local program, as a webhook would, until Ctrl-C',
  takes: {
    forwardTo: required(option('<url>', 'where the events go: any http or https URL', target)),
    type: choices('<type...>', 'only these types: a type, all types of a kind, or all', TYPE_FILTERS),
    url: option('<base>', `the service: PETSTORE_URL unless given, or else ${LOCAL_SERVICE}`, base),
    json: NO_JSON,
  },
  notes: 'The key comes from PETSTORE_API_KEY. It needs no database and no webhook.',
  examples: [
    "PETSTORE_API_KEY=petstore_test_… petstore listen --forward-to http://localhost:3000/hooks --type 'order.*'",
  ],
  run: async ({ forwardTo, type, url }, { system, printLines }: Terminal<unknown>) => {
    const { PETSTORE_API_KEY: apiKey, PETSTORE_URL: address } = system.env;
    // An empty variable counts as unset.
    if (!apiKey) throw new ConfigError('PETSTORE_API_KEY must be set to an API key');
    const baseUrl = url ?? normalBase(address || LOCAL_SERVICE);
    if (baseUrl === undefined) throw new ConfigError(`PETSTORE_URL ${BASE_ISSUE}`);
    // Loaded here, so that help does without it.
    const { listen } = await import('../../../client/src/listen.ts');
    return async () => {
      try {
        await printLines(listen({ apiKey, baseUrl }, { forwardTo, types: type as EventQuery['types'] }));
      } catch (error) {
        throw error instanceof PetStoreError ? new StartupError(error.message) : error;
      }
    };
  },
});

function target(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new InvalidArgumentError('It must be an http or https URL.');
}

function base(text: string): string {
  const url = normalBase(text);
  if (url === undefined) throw new InvalidArgumentError(`It ${BASE_ISSUE}.`);
  return url;
}
