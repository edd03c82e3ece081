// Contract: section 10.2.
import { z } from 'zod';
import type { AccountRepository } from '../domain/account-ports.ts';
import type { RateLimitAdmin } from '../limits/counter.ts';
import { type BanRecord, describeBans, liftBan as lift } from '../management/bans.ts';
import type { NoticeRepository } from '../resources/notices/repository.ts';
import { list, remove, type OperatorResource } from '../http/operation.ts';
import { cursorNumber, iso, rowFilter, rowId } from './values.ts';

interface Stores {
  readonly accounts: AccountRepository;
  readonly notices: NoticeRepository;
  readonly quotas: Pick<RateLimitAdmin, 'listBans' | 'liftBan'>;
}

const Bans = z
  .array(
    z.object({
      keyId: z.int(),
      accountId: z.int(),
      account: z.string(),
      label: z.string().optional(),
      until: z.iso.datetime(),
      count: z.int().meta({ description: 'How many bans the key had in a row, this one included.' }),
    }),
  )
  .meta({ id: 'Bans', description: 'Bans in force, by the numbers of their keys.' });

const listBans = list(Bans, 'bans', {
  id: 'listBans',
  path: '/bans',
  role: 'viewer',
  description: 'Returns a page of the keys of this environment that are banned now, by their numbers.',
  filters: { accountId: rowFilter('Keep only the bans of this account.') },
  examples: {
    one: {
      summary: 'One ban',
      value: [
        {
          keyId: 7,
          accountId: 1,
          account: 'shop',
          label: 'price board',
          until: '2026-11-23T14:10:00.000Z',
          count: 1,
        },
      ],
    },
  },
  async handle({ parameters }, { accounts, quotas }: Stores) {
    const { accountId, limit: most, cursor: end } = parameters;
    const after = cursorNumber(end) ?? 0;
    const rows = await quotas.listBans({ accountId, after, limit: most + 1 });
    const page = await describeBans(accounts, rows.slice(0, most));
    const last = rows.length > most ? rows[most - 1] : undefined;
    return {
      value: page.map(banRow),
      next: last && BigInt(last.keyId),
    };
  },
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
  async handle({ parameters, actor }, stores: Stores) {
    await lift(stores, actor, parameters.keyId);
    return { value: undefined };
  },
});

function banRow(ban: BanRecord) {
  return { ...ban, until: iso(ban.until) };
}

export const BANS: OperatorResource<Stores> = {
  name: 'Bans',
  description: 'Keys that are banned because they kept sending requests after a 429.',
  operations: [listBans, liftBan],
};
