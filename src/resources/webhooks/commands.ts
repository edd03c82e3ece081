// Contract: sections 8 and 13.
import type { Command } from 'commander';
import { ServiceError } from '../../domain/errors.ts';
import { instantOrNull } from '../../domain/instant.ts';
import { mapPage } from '../../domain/page.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import { type Instant, JSON_OPTION, type JsonOption, since, wholeNumber } from '../../terminal/options.ts';
import { readPages } from '../../terminal/pages.ts';
import { type Cell, type Column, instantCell } from '../../terminal/table.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import { type Delivery, toWebhook, type ListedWebhook, type WebhookRepository } from './repository.ts';
import { REPLAYED } from './rules.ts';

interface Settings {
  /** Milliseconds that events stay in the feed. */
  readonly eventsKept: number;
}

interface Repositories {
  readonly accounts: AccountRepository;
  readonly webhooks: WebhookRepository;
}

interface ListOptions extends JsonOption {
  readonly account?: string;
  readonly failing?: true;
}

interface EnableOptions extends JsonOption {
  readonly all?: true;
}

/** Attempts that `show` prints. */
const SHOWN = 20;

const COLUMNS: readonly Column[] = [
  'ID',
  { title: 'ACCOUNT', shrinks: true },
  { title: 'ENVIRONMENT', weight: 1 },
  'STATE',
  'FAILING SINCE',
  'MISSED',
  { title: 'TYPES', weight: 2, shrinks: true },
  { title: 'URL', shrinks: true },
];

const DELIVERY_COLUMNS: readonly Column[] = [
  'ID',
  'TIME',
  'TYPE',
  'ATTEMPT',
  'STATUS',
  'ANSWER',
  { title: 'MS', weight: 2 },
  { title: 'EVENT', weight: 1 },
];

/** The number of a webhook, as `webhooks list` shows it. */
const webhookId = wholeNumber(1, Number.MAX_SAFE_INTEGER);

export function webhooksCommands(program: Command, terminal: Terminal<Repositories, Settings>): void {
  const { withStore, printJson, printLine, printPages } = terminal;
  const group = program
    .command('webhooks')
    .description('endpoints of accounts that get events: list, show, enable, disable, replay');

  group
    .command('list')
    .description('list webhooks, newest first')
    .option('--account <name>', 'only the webhooks of one account')
    .option('--failing', 'only those that fail, or that the service disabled')
    .option(...JSON_OPTION)
    .action(({ account: name, failing: isFailing, json }: ListOptions) =>
      withStore(async ({ store: { accounts, webhooks } }) => {
        const accountId = name === undefined ? undefined : requireValue(await accounts.find(name)).id;
        const pages = readPages(async (page) =>
          mapPage(await webhooks.listAll({ accountId, isFailing, ...page }), toCommandWebhook),
        );
        await printPages(json, pages, COLUMNS, describeCells);
      }),
    );

  group
    .command('show')
    .argument('<id>', 'the number of the webhook', webhookId)
    .description(`show a webhook and its last ${SHOWN} attempts`)
    .option(...JSON_OPTION)
    .action((id: number, { json }: JsonOption) => showWebhook(terminal, id, json));

  group
    .command('enable')
    .argument('[id]', 'the number of the webhook', webhookId)
    .description('send events to an endpoint again; it goes on from its place')
    .option('--all', 'instead of one: all that are disabled because the database was copied or restored')
    .option(...JSON_OPTION)
    .action((id: number | undefined, options: EnableOptions) => enableWebhooks(terminal, id, options));

  group
    .command('disable')
    .argument('<id>', 'the number of the webhook', webhookId)
    .description('send nothing to an endpoint until it is enabled')
    .option(...JSON_OPTION)
    .action((id: number, { json }: JsonOption) =>
      withStore(async ({ store: { webhooks }, actor }) => {
        requireValue(await webhooks.switch(actor, id, false));
        const webhook = toCommandWebhook(requireValue(await webhooks.find(id)));
        if (json) printJson(webhook);
        else printLine(`Webhook ${id} of account ${webhook.account} is disabled.`);
      }),
    );

  group
    .command('replay')
    .argument('<id>', 'the number of the webhook', webhookId)
    .description('send the events since an instant to an endpoint, also those that it got')
    .requiredOption(
      '--since <when>',
      'the first instant: a date (midnight UTC), an ISO 8601 instant, or a duration before now: 2h',
      since,
    )
    .option(...JSON_OPTION)
    .action((id: number, { since: readSince, json }: JsonOption & { readonly since: Instant }) =>
      withStore(async ({ config, clock, store: { webhooks }, actor }) => {
        const start = readSince(clock().unix);
        const replayed = await webhooks.replay(actor, id, undefined, {
          since: start,
          kept: config.eventsKept,
        });
        if ('error' in replayed && replayed.error === 'gone')
          throw new ServiceError('gone', 'Events of --since are no longer kept: name a later instant.');
        if ('error' in replayed && replayed.error === 'rate_limit_exceeded')
          throw new ServiceError('rate_limit_exceeded', REPLAYED);
        requireValue(replayed);
        const webhook = toCommandWebhook(requireValue(await webhooks.find(id)));
        if (json) printJson(webhook);
        else
          printLine(
            `Webhook ${id} of account ${webhook.account} gets events from ${new Date(start).toISOString()} on.`,
          );
      }),
    );
}

function showWebhook(
  { withStore, printJson, printTable, printLine }: Terminal<Repositories, Settings>,
  id: number,
  json: true | undefined,
): Promise<void> {
  return withStore(async ({ store: { webhooks } }) => {
    const webhook = toCommandWebhook(requireValue(await webhooks.find(id)));
    const { items } = requireValue(
      await webhooks.listDeliveries(id, undefined, { limit: SHOWN, cursor: undefined }),
    );
    if (json) return printJson({ ...webhook, deliveries: items });
    printTable(COLUMNS, [describeCells(webhook)]);
    printLine('');
    printTable(DELIVERY_COLUMNS, items.map(describeDeliveryCells));
  });
}

function enableWebhooks(
  { withStore, printJson, printLine, printRows }: Terminal<Repositories, Settings>,
  id: number | undefined,
  { all, json }: EnableOptions,
): Promise<void> {
  if ((id === undefined) === (all === undefined))
    throw new ServiceError('invalid_parameter', 'Name one webhook, or give --all.');
  return withStore(async ({ store: { webhooks }, actor }) => {
    const ids = id === undefined ? await listCopied(webhooks) : [id];
    const enabled = [];
    for (const disabledId of ids) {
      requireValue(await webhooks.switch(actor, disabledId, true));
      enabled.push(toCommandWebhook(requireValue(await webhooks.find(disabledId))));
    }
    const [webhook] = enabled;
    if (all && !json && webhook === undefined) printLine('No webhook was disabled.');
    else if (all) printRows(json, enabled, COLUMNS, describeCells);
    else if (json) printJson(webhook);
    else if (webhook !== undefined)
      printLine(`Webhook ${webhook.id} of account ${webhook.account} is enabled.`);
  });
}

/** The webhooks that are disabled because the database is a copy. */
async function listCopied(webhooks: WebhookRepository): Promise<number[]> {
  const copied: number[] = [];
  for await (const page of readPages((query) => webhooks.listAll({ isFailing: true, ...query })))
    copied.push(...page.filter(({ disabledReason }) => disabledReason === 'copied').map(({ id }) => id));
  return copied;
}

function toCommandWebhook({ account, ...webhook }: ListedWebhook) {
  const { description = null, disabledReason = null, ...rest } = toWebhook(webhook);
  const { environment, failingSince } = webhook;
  return {
    ...rest,
    account,
    environment,
    description,
    disabledReason,
    failingSince: instantOrNull(failingSince),
  };
}

function describeCells(webhook: ReturnType<typeof toCommandWebhook>): readonly Cell[] {
  const { id, account, environment, disabledReason, failingSince, missed, types, url } = webhook;
  return [
    String(id),
    account,
    environment,
    disabledReason === null ? 'enabled' : `disabled (${disabledReason})`,
    instantCell(failingSince),
    missed,
    types.join(' '),
    url,
  ];
}

function describeDeliveryCells(delivery: Delivery): readonly Cell[] {
  const { id, at, type, attempt, status, httpStatus, failure, durationMs, eventId } = delivery;
  const answer = failure === undefined || failure === 'status' ? String(httpStatus ?? '-') : failure;
  return [String(id), instantCell(at), type, attempt, status, answer, durationMs, eventId];
}
