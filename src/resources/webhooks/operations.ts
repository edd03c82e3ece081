// Contract: section 13.
import { describeEvents } from '../events/schema.ts';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Environment } from '../../domain/api-key.ts';
import { MINUTE } from '../../domain/clock.ts';
import { textIfInstant } from '../../domain/instant.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Replay as Repetition } from '../../domain/idempotency.ts';
import { mapPage, toPage } from '../../domain/page.ts';
import { mapResult, type Result } from '../../domain/result.ts';
import {
  act,
  change,
  type ClientCall,
  type ClientOperation,
  create,
  list,
  type OperatorResource,
  otherTag,
  read,
  remove,
  type Resource,
} from '../../http/operation.ts';
import { choice, rowFilter, rowId } from '../../http/parameters.ts';
import type { TypeFilter } from '../events/rules.ts';
import type { Endpoints } from './endpoints.ts';
import {
  toDelivery,
  toWebhook,
  type ListedWebhook,
  type WebhookOwner,
  type WebhookRepository,
} from './repository.ts';
import {
  MOST_CHANGES_A_DAY,
  MOST_CHOICES,
  MOST_DELIVERIES,
  MOST_TESTS,
  MOST_WEBHOOKS,
  newWebhookSecret,
  REPLAY_INTERVAL,
  REPLAYED,
} from './rules.ts';
import {
  Delivery,
  DeliveryDetails,
  EXAMPLE_WEBHOOK,
  NewWebhook,
  Replay,
  Webhook,
  WebhookPatch,
  WebhookTest,
  WebhookWithSecret,
} from './schema.ts';
import { DELIVERY_STATUSES } from './table.ts';

const DISABLED = { enabled: false, disabledReason: 'request' };

interface Uses {
  readonly webhooks: WebhookRepository;
  /** Undefined: this deployment has no webhooks. */
  readonly endpoints: Endpoints | undefined;
  readonly environment: Environment;
  /** Milliseconds that events are kept. */
  readonly eventsKept: number;
}

/** What an operation uses behind `requireWebhooks`. */
interface Own extends Pick<Uses, 'webhooks' | 'eventsKept'> {
  readonly endpoints: Endpoints;
  readonly owner: WebhookOwner;
}

const OFF = 'This deployment has no webhooks.';

/** Answers 404 when this deployment has no webhooks. Otherwise those of the account in this environment are meant. */
function requireWebhooks(operation: ClientOperation<Own>): ClientOperation<Uses> {
  return {
    ...operation,
    async handle(call: ClientCall, { webhooks, endpoints, environment, eventsKept }) {
      if (endpoints === undefined) return { error: 'not_found', message: OFF };
      const owner = { accountId: call.accountId, environment };
      return operation.handle(call as never, { webhooks, endpoints, eventsKept, owner });
    },
  };
}

const webhookId = rowId('Identifier of the webhook.');

const SHARED = {
  scope: 'webhooks:manage',
  allowance: 'holder',
  stability: 'beta',
  guide: 'Receive webhooks',
} as const;

const NO_WEBHOOK = 'This account has no webhook with this webhookId in this environment.';
const MANY_CHANGES = `The keys of the account have changed webhooks ${MOST_CHANGES_A_DAY} times in this UTC day: wait.`;
const REPEATED = {
  error: 'conflict',
  message:
    'A request with this Idempotency-Key was answered before, and a secret is shown only once: rotate the secret of the webhook.',
} as const;

/** A repeated request gets no secret. */
function addSecret<Code extends ErrorCode>(written: Result<object, Code> | Repetition, secret: string) {
  return 'replay' in written ? REPEATED : mapResult(written, (webhook) => ({ ...webhook, secret }));
}

const listWebhooks = list(Webhook, 'webhooks', {
  id: 'listWebhooks',
  path: '/webhooks',
  ...SHARED,
  description: `Returns the webhooks of this account and environment, the newest first: at most ${MOST_WEBHOOKS}.`,
  errors: { not_found: OFF },
  sample: { client: 'webhooks.list' },
  async handle({ parameters: { cursor, limit } }, { webhooks, owner }: Own) {
    const all = await webhooks.list(owner);
    const rest = all.filter(({ id }) => cursor === undefined || id < cursor);
    return mapPage(toPage(rest, limit), toWebhook);
  },
});

const createWebhook = create(NewWebhook, WebhookWithSecret, {
  id: 'createWebhook',
  path: '/webhooks',
  ...SHARED,
  summary: 'Add a webhook',
  description:
    'Adds an endpoint that gets the events that are committed after this answer, and that the calling key may see. Only this ' +
    'answer shows its secret. It sends nothing yet: see `testWebhook`.',
  noStore: true,
  errors: {
    not_found: OFF,
    invalid_request: 'url must lead to public addresses only.',
    conflict: `The account has ${MOST_WEBHOOKS} webhooks in this environment: delete one first.`,
  },
  sample: { client: 'webhooks.create' },
  async handle({ key, actor, body, idempotency, waits }, { webhooks, endpoints, owner }: Own) {
    const secret = newWebhookSecret(randomBytes);
    const { url, types = ['*'], description } = body;
    const row = {
      ...owner,
      url,
      types: types as readonly TypeFilter[],
      scopes: key.scopes,
      ...(description !== undefined && { description }),
      secret,
      createdBy: key.id,
    };
    const created = await webhooks.doOnce(actor, idempotency, async (claimed) => {
      const checked = await waits.until(endpoints.check(url, owner.accountId));
      return 'error' in checked ? checked : webhooks.create(actor, row, claimed);
    });
    return addSecret(created, secret);
  },
});

const getWebhook = read(Webhook, {
  id: 'getWebhook',
  path: '/webhooks/{webhookId}',
  ...SHARED,
  summary: 'Get a webhook',
  description: 'Returns one webhook, without its secret.',
  parameters: { webhookId },
  errors: { not_found: NO_WEBHOOK },
  sample: { client: 'webhooks.get' },
  handle: async ({ parameters }, { webhooks, owner }: Own) =>
    mapResult(await webhooks.get(parameters.webhookId, owner), toWebhook),
});

const updateWebhook = change(WebhookPatch, Webhook, {
  id: 'updateWebhook',
  path: '/webhooks/{webhookId}',
  ...SHARED,
  summary: 'Change a webhook',
  description:
    'Changes the fields that the body names (RFC 7396). An endpoint that is enabled again goes on from its place; if its events are ' +
    'gone, at the oldest, and `missed` counts them.',
  parameters: { webhookId },
  example: { ...EXAMPLE_WEBHOOK, ...DISABLED },
  errors: {
    not_found: NO_WEBHOOK,
    precondition_failed: otherTag('webhook'),
    conflict: `The types have changed ${MOST_CHOICES} times while events wait.`,
  },
  sample: { client: 'webhooks.update' },
  async handle({ key, actor, parameters, body, ifMatch, waits }, { webhooks, endpoints, owner }: Own) {
    const { url } = body.fields;
    const checked = url === undefined ? undefined : await waits.until(endpoints.check(url, owner.accountId));
    // Counts only after 404 and 412, like every issue of a patch.
    const patch = checked !== undefined && 'error' in checked ? { ...body, issue: checked.message } : body;
    const { scopes } = key;
    return webhooks.update(actor, parameters.webhookId, {
      owner,
      patch,
      scopes,
      ifMatch,
    });
  },
});

const deleteWebhook = remove({
  id: 'deleteWebhook',
  path: '/webhooks/{webhookId}',
  ...SHARED,
  summary: 'Delete a webhook',
  description: 'Deletes a webhook with its attempts. Nothing is sent to it any more.',
  parameters: { webhookId },
  answer: 'The webhook is deleted.',
  errors: { not_found: NO_WEBHOOK, precondition_failed: otherTag('webhook'), conflict: MANY_CHANGES },
  sample: { client: 'webhooks.delete' },
  handle: ({ actor, parameters, ifMatch }, { webhooks, owner }: Own) =>
    webhooks.remove(actor, parameters.webhookId, owner, ifMatch),
});

const rotateWebhookSecret = act(WebhookWithSecret, {
  id: 'rotateWebhookSecret',
  path: '/webhooks/{webhookId}/rotate',
  ...SHARED,
  summary: 'Rotate the secret of a webhook',
  description:
    'Gives the webhook a new secret, which only this answer shows. For 24 hours both secrets sign each event.',
  parameters: { webhookId },
  noStore: true,
  errors: { not_found: NO_WEBHOOK, conflict: 'The secret was rotated within the last 24 hours: wait.' },
  sample: { client: 'webhooks.rotate' },
  async handle({ actor, parameters, idempotency }, { webhooks, owner }: Own) {
    const secret = newWebhookSecret(randomBytes);
    return addSecret(await webhooks.rotate(actor, parameters.webhookId, owner, secret, idempotency), secret);
  },
});

const testWebhook = act(WebhookTest, {
  id: 'testWebhook',
  path: '/webhooks/{webhookId}/test',
  ...SHARED,
  summary: 'Test a webhook',
  description:
    'Sends an event `webhook.test` now, once, whatever the types of the webhook are and also while it is disabled, and answers ' +
    `with what became of it. It is in no feed. At most ${MOST_TESTS} a minute for an account.`,
  parameters: { webhookId },
  errors: {
    not_found: NO_WEBHOOK,
    rate_limit_exceeded: `The account has sent ${MOST_TESTS} tests within a minute: wait.`,
  },
  sample: { client: 'webhooks.test' },
  async handle({ actor, parameters, waits, idempotency }, { webhooks, endpoints, owner }: Own) {
    const { webhookId: id } = parameters;
    return webhooks.doOnce(actor, idempotency, async (claimed) => {
      const begun = await webhooks.beginTest(actor, id, owner);
      return 'error' in begun ? begun : waits.until(endpoints.test(actor, id, owner, claimed));
    });
  },
});

const deliveryStatus = choice(DELIVERY_STATUSES, {
  description: 'Keep only attempts with this status.',
  example: 'failed',
});

const listDeliveries = list(Delivery, 'attempts', {
  id: 'listDeliveries',
  path: '/webhooks/{webhookId}/deliveries',
  ...SHARED,
  description:
    `Returns a page of the attempts to deliver events, the newest first. The newest ${MOST_DELIVERIES.toLocaleString('en')} are kept. ` +
    'Nothing of the body of an answer is kept.',
  parameters: { webhookId, status: deliveryStatus },
  errors: { not_found: NO_WEBHOOK },
  sample: { client: 'webhooks.deliveries' },
  async handle({ parameters: { webhookId: id, ...query } }, { webhooks, owner }: Own) {
    const page = await webhooks.listDeliveries(id, owner, query);
    return 'error' in page ? page : page.value;
  },
});

const deliveryId = rowId('Identifier of the attempt.');

const NO_DELIVERY = 'This account has no such webhook, or the webhook no such attempt.';

const getDelivery = read(DeliveryDetails, {
  id: 'getDelivery',
  path: '/webhooks/{webhookId}/deliveries/{deliveryId}',
  ...SHARED,
  summary: 'Get an attempt',
  description:
    'Returns one attempt with the headers, the signature and the body that were sent. The feed keeps the body, so it is there as long as ' +
    'the event is.',
  parameters: { webhookId, deliveryId },
  errors: { not_found: NO_DELIVERY },
  sample: { client: 'webhooks.delivery' },
  async handle({ key, parameters }, { webhooks, owner }: Own) {
    const found = await webhooks.getDelivery(parameters.webhookId, owner, parameters.deliveryId, key.scopes);
    if ('error' in found) return found;
    const { webhook, delivery, body } = found.value;
    // Loaded here, because the sending thread alone needs it otherwise.
    const { toRequest } = await import('./message.ts');
    return { value: { ...toDelivery(delivery), request: toRequest(webhook, delivery, body) } };
  },
});

const redeliver = act(Delivery, {
  status: 202,
  id: 'redeliver',
  path: '/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
  ...SHARED,
  summary: 'Deliver an event again',
  description:
    'Sends the event of an attempt again as soon as possible, with all its retries. While the webhook is disabled, the event waits. ' +
    'The answer is the attempt that was named.',
  parameters: { webhookId, deliveryId },
  errors: {
    not_found: NO_DELIVERY,
    gone: 'The event of this attempt is no longer kept, or it was a test.',
  },
  sample: { client: 'webhooks.redeliver' },
  async handle({ actor, parameters, idempotency }, { webhooks, owner }: Own) {
    return webhooks.redeliver(actor, parameters.webhookId, owner, parameters.deliveryId, idempotency);
  },
});

const replayWebhook = act(Webhook, {
  input: Replay,
  status: 202,
  id: 'replayWebhook',
  path: '/webhooks/{webhookId}/replay',
  ...SHARED,
  summary: 'Send events again',
  description:
    'Moves the place of the webhook to the first event of `since`, back or forward: it gets all events from there on. Events that ' +
    `wait for a retry stay. At most once in ${REPLAY_INTERVAL / MINUTE} minutes for a webhook.`,
  parameters: { webhookId },
  errors: {
    not_found: NO_WEBHOOK,
    invalid_request: 'since must not lie in the future.',
    gone: 'Events of since are no longer kept: name a later instant.',
    rate_limit_exceeded: REPLAYED,
  },
  sample: { client: 'webhooks.replay' },
  async handle({ actor, parameters, body, idempotency }, { webhooks, owner, eventsKept }: Own) {
    const replaying = { since: Number(body.since), kept: eventsKept };
    return webhooks.replay(actor, parameters.webhookId, owner, replaying, idempotency);
  },
});

export const CLIENTS: Resource<Uses> = {
  name: 'Webhooks',
  description: 'Endpoints of your account that get events.',
  uses: { webhooks: true, endpoints: true, environment: true, eventsKept: true },
  operations: [
    listWebhooks,
    createWebhook,
    getWebhook,
    updateWebhook,
    deleteWebhook,
    rotateWebhookSecret,
    testWebhook,
    listDeliveries,
    getDelivery,
    redeliver,
    replayWebhook,
  ].map(requireWebhooks),
};

/* For operators. */

interface OperatorStores {
  readonly webhooks: WebhookRepository;
  readonly environment: Environment;
}

const OPERATOR_WEBHOOK = { ...EXAMPLE_WEBHOOK, accountId: 1, account: 'shop' };

const OperatorWebhook = Webhook.extend({
  accountId: z.int(),
  account: z.string(),
  failingSince: z.string().optional(),
}).meta({
  id: 'Webhook',
  description: 'A webhook of an account.',
  examples: [OPERATOR_WEBHOOK],
});

const NO_SUCH_WEBHOOK = 'There is no webhook with this number.';

const webhookNumber = rowId('Number of the webhook.');

function toOperatorWebhook({ account, ...webhook }: ListedWebhook) {
  const { accountId, failingSince } = webhook;
  return {
    ...toWebhook(webhook),
    accountId,
    account,
    failingSince: textIfInstant(failingSince),
  };
}

const listAllWebhooks = list(OperatorWebhook, 'webhooks', {
  id: 'listWebhooks',
  path: '/webhooks',
  role: 'viewer',
  description: 'Returns a page of the webhooks of this environment, the newest first.',
  parameters: {
    accountId: rowFilter('Keep only webhooks of this account.'),
    keyId: rowFilter('Keep only webhooks that this key added, or last pointed somewhere.'),
    state: choice(['failing'] as const, {
      description: 'Keep only webhooks that fail, or were disabled by the service.',
      example: 'failing',
    }),
  },
  async handle({ parameters }, { webhooks, environment }: OperatorStores) {
    const { state, ...query } = parameters;
    const page = await webhooks.listAll({ ...query, environment, isFailing: state === 'failing' });
    return mapPage(page, toOperatorWebhook);
  },
});

const listAllDeliveries = list(Delivery, 'attempts', {
  id: 'listDeliveries',
  path: '/webhooks/{webhookId}/deliveries',
  role: 'viewer',
  description: 'Returns a page of the attempts of a webhook, the newest first.',
  parameters: { webhookId: webhookNumber, status: deliveryStatus },
  errors: { not_found: NO_SUCH_WEBHOOK },
  async handle({ parameters: { webhookId: id, ...query } }, { webhooks }: OperatorStores) {
    const page = await webhooks.listDeliveries(id, undefined, query);
    return 'error' in page ? page : page.value;
  },
});

const WebhookState = z.object({ enabled: z.boolean({ error: 'must be true or false' }) }).meta({
  id: 'WebhookState',
  description: 'Whether an endpoint gets events.',
  examples: [{ enabled: false }],
});

const changeWebhook = change(WebhookState, OperatorWebhook, {
  id: 'changeWebhook',
  path: '/webhooks/{webhookId}',
  role: 'admin',
  summary: 'Enable or disable a webhook',
  description: 'Disables an endpoint, or enables it again: it goes on from its place.',
  parameters: { webhookId: webhookNumber },
  example: { ...OPERATOR_WEBHOOK, ...DISABLED },
  errors: { not_found: NO_SUCH_WEBHOOK },
  async handle({ actor, parameters, body }, { webhooks }: OperatorStores) {
    const { webhookId: id } = parameters;
    const changed = await webhooks.switch(actor, id, body.enabled);
    if ('error' in changed) return changed;
    return mapResult(await webhooks.find(id), toOperatorWebhook);
  },
});

export const OPERATORS: OperatorResource<OperatorStores> = {
  name: 'Webhooks',
  description: 'Endpoints of accounts that get events.',
  uses: { webhooks: true, environment: true },
  operations: [listAllWebhooks, listAllDeliveries, changeWebhook],
};

export const EVENTS = describeEvents('webhook', Webhook, {
  id: 'WebhookEvent',
  description: 'Something happened to a webhook of the account. `data` is the webhook, without its secret.',
  hasVersion: false,
  types: {
    'webhook.disabled': {
      when: 'A webhook was disabled: on request, or because it failed. It is not told of its own end.',
      data: { ...EXAMPLE_WEBHOOK, enabled: false, disabledReason: 'gone' },
    },
  },
});
