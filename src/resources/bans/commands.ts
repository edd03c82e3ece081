// Contract: section 6.
import { ServiceError } from '../../domain/errors.ts';
import { textFromInstant } from '../../domain/instant.ts';
import type { RateLimitAdmin } from '../../limits/limiter.ts';
import { command, type CommandContext, group, requireValue } from '../../terminal/command.ts';
import { readId } from '../../terminal/parsers.ts';
import { instantCell, type Column } from '../../terminal/table.ts';
import { argument, option } from '../../terminal/takers.ts';
import { view, viewRows } from '../../terminal/view.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import type { BanRepository } from './repository.ts';

type Context = CommandContext<{
  readonly accounts: AccountRepository;
  readonly bans: BanRepository;
}>;

interface ListedBan {
  readonly keyId: number;
  readonly account: string;
  readonly until: string;
  readonly count: number;
}

const COLUMNS: readonly Column<ListedBan>[] = [
  ['KEY', ({ keyId: id }) => String(id)],
  ['ACCOUNT', ({ account }) => account, { shrinks: true }],
  ['ENDS', ({ until }) => instantCell(until)],
  ['BANS IN A ROW', ({ count }) => count],
];

export const bansCommands = group(
  'bans',
  'keys that are banned because they kept sending requests after a 429',
  [
    command('list', {
      description: 'list the bans in force, and how many followed one another within a day',
      run: async (_, { store, useQuotas }: Context) => {
        const bans = await useQuotas((quotas) => quotas.listBans());
        const listed = (await store.bans.describe(bans)).map(({ keyId: id, account, until, count }) => ({
          keyId: id,
          account,
          until: textFromInstant(until),
          count,
        }));
        return viewRows(COLUMNS, listed);
      },
    }),

    command('lift', {
      description: 'end a ban and forget the ones before it; a running service follows within a second',
      takes: {
        id: argument('[id]', 'the number of the key', readId),
        account: option('<name>', 'instead of one key: all banned keys of an account'),
      },
      examples: ['petstore bans lift 7', 'petstore bans lift --account shop'],
      check: ({ id, account }) =>
        (id === undefined) === (account === undefined) &&
        'Name one key by its number, or an account with --account.',
      run: ({ id, account = '' }, { store: { accounts, bans }, useQuotas, actor }: Context) =>
        useQuotas(async (quotas) => {
          const ids = id === undefined ? await listBanned(accounts, quotas, account) : [id];
          for (const banned of ids) requireValue(await bans.lift(actor, banned, quotas));
          const lifted = ids.map((banned) => ({ keyId: banned, lifted: true }));
          return view(
            id === undefined ? lifted : lifted[0],
            ...ids.map((banned) => `The ban of key ${banned} is lifted.`),
          );
        }),
    }),
  ],
);

/** The banned keys of an account. @throws ServiceError when there is none. */
async function listBanned(
  accounts: AccountRepository,
  quotas: Pick<RateLimitAdmin, 'listBans'>,
  name: string,
): Promise<readonly number[]> {
  const account = requireValue(await accounts.find(name));
  const bans = await quotas.listBans({ accountId: account.id });
  if (bans.length > 0) return bans.map(({ keyId: banned }) => banned);
  throw new ServiceError('not_found', `No key of account ${account.name} is banned.`);
}
