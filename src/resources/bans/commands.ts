// Contract: section 6.
import type { Command } from 'commander';
import { ServiceError } from '../../domain/errors.ts';
import { textFromInstant } from '../../domain/instant.ts';
import type { RateLimitAdmin } from '../../limits/limiter.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import { JSON_OPTION, type JsonOption, keyId } from '../../terminal/options.ts';
import { type Column, instantCell } from '../../terminal/table.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import type { BanRepository } from './repository.ts';

interface Repositories {
  readonly accounts: AccountRepository;
  readonly bans: BanRepository;
}

interface LiftOptions extends JsonOption {
  readonly account?: string;
}

const COLUMNS: readonly Column[] = ['KEY', { title: 'ACCOUNT', shrinks: true }, 'ENDS', 'BANS IN A ROW'];

const LIFT_EXAMPLES = `
Examples:
  petstore bans lift 7
  petstore bans lift --account shop`;

export function bansCommands(program: Command, terminal: Terminal<Repositories>): void {
  const { withQuotas, printJson, printLine, printRows } = terminal;
  const bans = program
    .command('bans')
    .description('keys that are banned because they kept sending requests after a 429');

  bans
    .command('list')
    .description('list the bans in force, and how many followed one another within a day')
    .option(...JSON_OPTION)
    .action(({ json }: JsonOption) =>
      withQuotas(async ({ store, quotas }) => {
        const found = await store.bans.describe(await quotas.listBans());
        const rows = found.map(({ keyId: id, account, until, count }) => ({
          keyId: id,
          account,
          until: textFromInstant(until),
          count,
        }));
        printRows(json, rows, COLUMNS, ({ keyId: id, account, until, count }) => [
          String(id),
          account,
          instantCell(until),
          count,
        ]);
      }),
    );

  bans
    .command('lift')
    .argument('[id]', 'the number of the key', keyId)
    .description('end a ban and forget the ones before it; a running service follows within a second')
    .option('--account <name>', 'instead of one key: all banned keys of an account')
    .option(...JSON_OPTION)
    .addHelpText('after', LIFT_EXAMPLES)
    .action((id: number | undefined, { account: name, json }: LiftOptions) => {
      if ((id === undefined) === (name === undefined))
        throw new ServiceError(
          'invalid_parameter',
          'Name one key by its number, or an account with --account.',
        );
      return withQuotas(async ({ store: { accounts, bans: repository }, quotas, actor }) => {
        const ids = id === undefined ? await listBanned(accounts, quotas, name ?? '') : [id];
        for (const banned of ids) requireValue(await repository.lift(actor, banned, quotas));
        const lifted = ids.map((banned) => ({ keyId: banned, lifted: true }));
        if (json) return printJson(id === undefined ? lifted : lifted[0]);
        for (const banned of ids) printLine(`The ban of key ${banned} is lifted.`);
      });
    });
}

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
