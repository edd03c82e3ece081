// Contract: section 10.2.
import { z } from 'zod';
import { instant, rowFilter, shortText } from '../../http/parameters.ts';
import { mapPage } from '../../domain/page.ts';
import { toActor } from '../../domain/audit.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { list, type OperatorResource } from '../../http/operation.ts';
import type { AuditEntry, AuditRepository } from './repository.ts';

interface Uses {
  readonly audit: AuditRepository;
}

const Named = z.object({ kind: z.string(), name: z.string() });
const Values = z.record(z.string(), z.unknown());

const Entry = z
  .object({
    id: z.int(),
    time: z.iso.datetime(),
    actor: Named.meta({ description: 'An `operator`, a `key` by its number, or a user of the `system`.' }),
    address: z.string().optional(),
    action: z.string(),
    target: Named,
    accountId: z.int().optional(),
    before: Values.optional(),
    after: Values.optional(),
  })
  .meta({
    id: 'AuditEntry',
    description: 'A change, with the values before and after.',
    examples: [
      {
        id: 12,
        time: '2026-11-23T14:05:12.645Z',
        actor: { kind: 'operator', name: 'ada' },
        address: '198.51.100.7',
        action: 'accounts set',
        target: { kind: 'account', name: 'shop' },
        accountId: 1,
        before: { plan: 'free' },
        after: { plan: 'pro' },
      },
    ],
  });

const listAudit = list(Entry, 'the audit log', {
  id: 'listAudit',
  path: '/audit',
  role: 'viewer',
  description:
    'Returns a page of the audit log, the newest first: every change by the command line, the console or the admin API, and what keys ' +
    'change of keys and webhooks, with the values before and after. What keys do with animals, categories and orders is not in it. It ' +
    'holds no key.',
  parameters: {
    accountId: rowFilter('Only changes that concern this account.'),
    since: instant({
      description: 'Only changes at this instant or later.',
      example: '2026-11-23T00:00:00Z',
    }),
    actor: shortText(100, {
      description:
        'Only changes by actors whose name contains this text, ignoring case. The name of a key is its number.',
      example: 'ada',
    }),
    action: shortText(100, { description: 'Only this action.', example: 'keys revoke' }),
  },
  handle: async ({ parameters, signal }, { audit }: Uses) =>
    mapPage(await audit.list({ ...parameters, signal }), toEntry),
});

function toEntry({ id, at, actor, ...entry }: AuditEntry) {
  return {
    id,
    time: textFromInstant(at),
    actor: toActor(actor),
    address: actor.address,
    ...entry,
  };
}

export const OPERATORS: OperatorResource<Uses> = {
  name: 'Audit',
  description: 'The audit log: who changed what, when and from where.',
  uses: { audit: true },
  operations: [listAudit],
};
