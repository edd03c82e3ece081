// Contract: section 10.2.
import { z } from 'zod';
import { rowFilter, rowId } from '../../http/parameters.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { mapPage } from '../../domain/page.ts';
import { list, remove, type OperatorResource } from '../../http/operation.ts';
import type { RateLimitAdmin } from '../../limits/limiter.ts';
import type { BanRepository, ListedBan } from './repository.ts';

interface Uses {
  readonly bans: BanRepository;
  readonly quotas: Pick<RateLimitAdmin, 'listBans' | 'liftBan'>;
}

const Ban = z
  .object({
    keyId: z.int(),
    accountId: z.int(),
    account: z.string(),
    label: z.string().optional(),
    until: z.iso.datetime(),
    count: z.int().meta({ description: 'How many bans the key had in a row, this one included.' }),
  })
  .meta({
    id: 'Ban',
    description: 'A ban in force.',
    examples: [
      {
        keyId: 7,
        accountId: 1,
        account: 'shop',
        label: 'price board',
        until: '2026-11-23T14:10:00.000Z',
        count: 1,
      },
    ],
  });

const listBans = list(Ban, 'bans', {
  id: 'listBans',
  path: '/bans',
  role: 'viewer',
  description: 'Returns a page of the keys of this environment that are banned now, by their numbers.',
  parameters: { accountId: rowFilter('Keep only the bans of this account.') },
  handle: async ({ parameters, signal }, { bans, quotas }: Uses) =>
    mapPage(await bans.list({ ...parameters, signal }, quotas), toBan),
});

const liftBan = remove({
  id: 'liftBan',
  path: '/bans/{keyId}',
  role: 'admin',
  summary: 'Lift a ban',
  description: 'Ends the ban of a key and forgets its earlier ones, within 2 seconds on every instance.',
  parameters: { keyId: rowId('Number of the key.') },
  answer: 'The ban is lifted.',
  errors: { not_found: 'This key is not banned.' },
  handle: ({ parameters, actor }, { bans, quotas }: Uses) => bans.lift(actor, parameters.keyId, quotas),
});

function toBan({ keyId, until, count, accountId, account, label }: ListedBan) {
  return { keyId, until: textFromInstant(until), count, accountId, account, label };
}

export const OPERATORS: OperatorResource<Uses> = {
  name: 'Bans',
  description: 'Keys that are banned because they kept sending requests after a 429.',
  uses: { bans: true, quotas: true },
  operations: [listBans, liftBan],
};
