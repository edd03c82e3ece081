// Contract: section 8.
import { randomBytes } from 'node:crypto';
import { SCOPES } from '../domain/account.ts';
import type { Environment } from '../domain/api-key.ts';
import { accountFor, issueKey } from '../domain/issue-key.ts';
import type { Service } from '../main.ts';

/** When nobody has a key of this environment yet, makes one and shows it, once, with a request that works as printed. */
export async function announceFirstKey({ store, url }: Service, environment: Environment): Promise<void> {
  const { accounts } = store;
  if ((await accounts.listKeys()).some((key) => key.environment === environment)) return;
  const account = await accountFor(accounts, 'default', undefined, {});
  const { key } = await issueKey(accounts, randomBytes, {
    account,
    environment,
    label: undefined,
    scopes: SCOPES,
    expiresAt: undefined,
  });
  process.stderr.write(`
There was no API key yet. This one is of the account "default" (plan ${account.plan}) and is shown only once:

  ${key.reveal()}

Try it:

  curl -H 'Authorization: Bearer ${key.reveal()}' '${url}/v1/pets'

`);
}
