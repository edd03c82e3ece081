// Contract: sections 5, 6 and 8.
import { isInForce } from '../../domain/account.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { toWindows } from '../../limits/quota.ts';
import { addTo, command, type CommandContext, requireValue } from '../../terminal/command.ts';
import { instantCell, type Column } from '../../terminal/table.ts';
import { argument } from '../../terminal/takers.ts';
import { table, type Text, view } from '../../terminal/view.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import { describeAccount, toAccount } from '../accounts/show.ts';
import { toListedKey, KEY_COLUMNS, readBans } from '../keys/key-view.ts';
import type { KeyRepository } from '../keys/repository.ts';
import type { UsageRepository } from '../usage/repository.ts';
import { countRequests, nameCounts, usageRange } from '../usage/rules.ts';

type Context = CommandContext<{
  readonly accounts: AccountRepository;
  readonly keys: KeyRepository;
  readonly usageHistory: Pick<UsageRepository, 'sums'>;
}>;

type Windows = ReturnType<typeof toWindows>;

const WINDOW_COLUMNS: readonly Column<readonly [name: string, window: Windows['minute']]>[] = [
  ['WINDOW', ([name]) => name],
  ['LEFT', ([, { remaining }]) => remaining],
  ['LIMIT', ([, { limit }]) => limit],
  ['RESETS', ([, { reset }]) => instantCell(textFromInstant(reset * 1_000))],
];

const USAGE_COLUMNS: readonly Column<ReturnType<typeof nameCounts>>[] = [
  ['LAST 30 DAYS', countRequests],
  ['OK', ({ ok }) => ok],
  ['CLIENT ERROR', ({ clientError }) => clientError],
  ['REFUSED', ({ refused }) => refused],
  ['SERVER ERROR', ({ serverError }) => serverError],
];

export const showAccount = addTo('accounts', [
  command('show', {
    description: 'show an account: its limits, what is left of them, its usage and its keys',
    takes: { name: argument('<name>') },
    run: async ({ name }, { clock, store, tryQuotas }: Context) => {
      const account = requireValue(await store.accounts.find(name));
      const { id: accountId, limits } = account;
      const now = clock().unix;
      const range = requireValue(usageRange({}, Math.floor(now)));
      const [sum] = await store.usageHistory.sums({ ...range, accountId, by: 'account' });
      const { ok, clientError, refused, serverError } = sum ?? nameCounts([0, 0, 0, 0]);
      const usage = { ok, clientError, refused, serverError };
      const records = await store.keys.listAll({ accountId });
      const counted = await tryQuotas('windows and bans', async (quotas) => ({
        ...toWindows(await quotas.peek({ kind: 'account', accountId, limits })),
        bans: await readBans(quotas, records),
      }));
      const keys = records.map((key) => toListedKey(key, now, counted?.bans));
      const windows = counted && { minute: counted.minute, day: counted.day };
      const inForce = keys.filter((_, index) => records[index] && isInForce(records[index], now));
      const ended = keys.length - inForce.length;
      const texts: Text[] = [...describeAccount(account)];
      if (windows !== undefined) texts.push('', table(WINDOW_COLUMNS, Object.entries(windows)));
      texts.push('', table(USAGE_COLUMNS, [usage]), '');
      // Without the account and its plan, which all of them have.
      if (inForce.length > 0) texts.push(table(KEY_COLUMNS.toSpliced(1, 2), inForce));
      if (keys.length === 0) texts.push('It has no key.');
      else if (ended > 0)
        texts.push(`Keys that have ended or are revoked: ${ended}. petstore keys list --account shows them.`);
      return view({ ...toAccount(account), ...windows, usage, keys }, ...texts);
    },
  }),
]);
