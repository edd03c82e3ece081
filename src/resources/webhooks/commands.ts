// Contract: sections 8 and 13.
import { ServiceError } from '../../domain/errors.ts';
import { instantOrNull } from '../../domain/instant.ts';
import { mapPage } from '../../domain/page.ts';
import { command, type CommandContext, findNamed, group, requireValue } from '../../terminal/command.ts';
import { readId } from '../../terminal/parsers.ts';
import { readPages } from '../../terminal/pages.ts';
import { instantCell, type Column } from '../../terminal/table.ts';
import { argument, flag, instantBefore, option, required } from '../../terminal/takers.ts';
import { table, view, viewPages } from '../../terminal/view.ts';
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

type Context = CommandContext<Repositories, Settings>;

/** Attempts that `show` prints. */
const SHOWN = 20;

const COLUMNS: readonly Column<ReturnType<typeof toCommandWebhook>>[] = [
  ['ID', ({ id }) => String(id)],
  ['ACCOUNT', ({ account }) => account, { shrinks: true }],
  ['ENVIRONMENT', ({ environment }) => environment, { weight: 1 }],
  ['STATE', ({ disabledReason: reason }) => (reason === null ? 'enabled' : `disabled (${reason})`)],
  ['FAILING SINCE', ({ failingSince }) => instantCell(failingSince)],
  ['MISSED', ({ missed }) => missed],
  ['TYPES', ({ types }) => types.join(' '), { weight: 2, shrinks: true }],
  ['URL', ({ url }) => url, { shrinks: true }],
];

const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  ['ID', ({ id }) => String(id)],
  ['TIME', ({ at }) => instantCell(at)],
  ['TYPE', ({ type }) => type],
  ['ATTEMPT', ({ attempt }) => attempt],
  ['STATUS', ({ status }) => status],
  ['ANSWER', describeAnswer],
  ['MS', ({ durationMs }) => durationMs, { weight: 2 }],
  ['EVENT', ({ eventId }) => eventId, { weight: 1 }],
];

const WEBHOOK = argument('<id>', 'the number of the webhook', readId);

export const webhooksCommands = group(
  'webhooks',
  'endpoints of accounts that get events: list, show, enable, disable, replay',
  [
    command('list', {
      description: 'list webhooks, newest first',
      takes: {
        account: option('<name>', 'only the webhooks of one account'),
        failing: flag('only those that fail, or that the service disabled'),
      },
      run: async ({ account, failing: isFailing }, { store: { accounts, webhooks } }: Context) => {
        const accountId = (await findNamed(accounts, account))?.id;
        const pages = readPages(async (page) =>
          mapPage(await webhooks.listAll({ accountId, isFailing, ...page }), toCommandWebhook),
        );
        return viewPages(COLUMNS, pages);
      },
    }),

    command('show', {
      description: `show a webhook and its last ${SHOWN} attempts`,
      takes: { id: WEBHOOK },
      run: async ({ id }, { store: { webhooks } }: Context) => {
        const webhook = await findWebhook(webhooks, id);
        const page = { limit: SHOWN, cursor: undefined };
        const { items: deliveries } = requireValue(await webhooks.listDeliveries(id, undefined, page));
        return view(
          { ...webhook, deliveries },
          table(COLUMNS, [webhook]),
          '',
          table(DELIVERY_COLUMNS, deliveries),
        );
      },
    }),

    command('enable', {
      description: 'send events to an endpoint again; it goes on from its place',
      takes: {
        id: argument('[id]', 'the number of the webhook', readId),
        all: flag('instead of one: all that are disabled because the database was copied or restored'),
      },
      check: ({ id, all }) =>
        (id === undefined) === (all === undefined) && 'Name one webhook, or give --all.',
      run: async ({ id }, { store: { webhooks }, actor }: Context) => {
        const enable = async (disabledId: number) => {
          requireValue(await webhooks.switch(actor, disabledId, true));
          return findWebhook(webhooks, disabledId);
        };
        if (id !== undefined) {
          const webhook = await enable(id);
          return view(webhook, `Webhook ${id} of account ${webhook.account} is enabled.`);
        }
        const enabled = [];
        for (const disabledId of await listCopied(webhooks)) enabled.push(await enable(disabledId));
        return view(enabled, enabled.length === 0 ? 'No webhook was disabled.' : table(COLUMNS, enabled));
      },
    }),

    command('disable', {
      description: 'send nothing to an endpoint until it is enabled',
      takes: { id: WEBHOOK },
      run: async ({ id }, { store: { webhooks }, actor }: Context) => {
        requireValue(await webhooks.switch(actor, id, false));
        const webhook = await findWebhook(webhooks, id);
        return view(webhook, `Webhook ${id} of account ${webhook.account} is disabled.`);
      },
    }),

    command('replay', {
      description: 'send the events since an instant to an endpoint, also those that it got',
      takes: {
        id: WEBHOOK,
        since: required(instantBefore('the first instant', '2h')),
      },
      run: async ({ id, since: readSince }, { config, clock, store: { webhooks }, actor }: Context) => {
        const start = readSince(clock().unix);
        const range = { since: start, kept: config.eventsKept };
        const replayed = await webhooks.replay(actor, id, undefined, range);
        if ('error' in replayed && replayed.error === 'gone')
          throw new ServiceError('gone', 'Events of --since are no longer kept: name a later instant.');
        if ('error' in replayed && replayed.error === 'rate_limit_exceeded')
          throw new ServiceError('rate_limit_exceeded', REPLAYED);
        requireValue(replayed);
        const webhook = await findWebhook(webhooks, id);
        const from = new Date(start).toISOString();
        return view(webhook, `Webhook ${id} of account ${webhook.account} gets events from ${from} on.`);
      },
    }),
  ],
);

async function findWebhook(webhooks: WebhookRepository, id: number) {
  return toCommandWebhook(requireValue(await webhooks.find(id)));
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

function describeAnswer({ httpStatus, failure }: Delivery): string {
  return failure === undefined || failure === 'status' ? String(httpStatus ?? '-') : failure;
}
