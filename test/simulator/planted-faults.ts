/** A fault that the simulator must find: what stands in a file, and what is put in its place. */
interface PlantedFault {
  readonly file: string;
  readonly changes: readonly (readonly [found: string, planted: string])[];
}

export const PLANTED_FAULTS: Readonly<Record<string, PlantedFault>> = {
  'an instance hangs at a failover': {
    file: 'src/limits/redis/names.ts',
    changes: [['number < INSTANCES_KEYS; number++', '; number = (number + 1) % INSTANCES_KEYS']],
  },
  'the place of a new webhook is taken without the queue': {
    file: 'src/resources/webhooks/repository.ts',
    changes: [
      [
        'place: await findEnd(transaction),\n    missed: 0',
        'place: (await transaction.query<readonly [bigint]>(sql`SELECT coalesce(max(id), 0) FROM events`))[0]?.[0] ?? 0n,\n    missed: 0',
      ],
      [
        'await events.placeAll();\n      return engine.writeOnce(idempotency, createWebhook',
        'return engine.writeOnce(idempotency, createWebhook',
      ],
    ],
  },
  'a rotated secret is not in force': {
    file: 'src/resources/webhooks/deliverer.ts',
    changes: [['settings.webhooks.changes.listen(', 'void (']],
  },
  'the counts of before an outage are restored twice': {
    file: 'src/limits/redis/limiter.ts',
    changes: [
      [
        'this.quotas.restoreCounts(caller, counts)',
        'this.quotas.restoreCounts(caller, { ...counts, minuteCount: 2 * counts.minuteCount, dayCount: 2 * counts.dayCount })',
      ],
    ],
  },
  'a share counts an instance that has ended': {
    file: 'src/limits/redis/outage.ts',
    changes: [
      ['instances > server.instances || server.missed > MISSED_HEARTBEATS', 'instances > server.instances'],
    ],
  },
  'a ban is forgotten when Redis comes back': {
    file: 'src/limits/redis/outage.ts',
    changes: [['await this.#shared.restoreBans(server.name);', '']],
  },
  'two instances hold a lease': {
    file: 'src/resources/webhooks/deliverer.ts',
    changes: [['webhook.sender === instance && !isFree(webhook)', '!isFree(webhook)']],
  },
  'a place moves past an event that was not delivered': {
    file: 'src/resources/webhooks/deliverer.ts',
    changes: [['while (this.passed[0]?.isDone)', 'while (this.passed[0] !== undefined)']],
  },
  'a reader that waits is not woken': {
    file: 'src/resources/events/feed.ts',
    changes: [
      ['const woken = [...this.#waiters].filter(', 'const woken = [...this.#waiters].slice(1).filter('],
    ],
  },
  'an answer comes before its commit': {
    file: 'src/storage/sqlite/writing-thread.ts',
    changes: [
      [
        "db.exec('BEGIN IMMEDIATE');",
        "if (db.isTransaction) db.exec('COMMIT');\n    db.exec('BEGIN IMMEDIATE');",
      ],
      [
        "db.exec('COMMIT');\n      return results;",
        "setTimeout(() => db.isTransaction && db.exec('COMMIT'), 2);\n      return results;",
      ],
    ],
  },
  'the record of an idempotency key is written after the answer': {
    file: 'src/storage/sqlite/engine.ts',
    changes: [
      [
        "import { openOnce } from '../idempotency.ts';",
        "import { openOnce, WRITES as RECORDS } from '../idempotency.ts';",
      ],
      [
        '(idempotency, work, args) => run(work, args, idempotency)',
        'async (idempotency, work, args) => {\n      const result = await run(work, args);\n      setTimeout(() => void run(RECORDS.claimKey, [idempotency]), 300);\n      return result as never;\n    }',
      ],
    ],
  },
  'an order expires twice': {
    file: 'src/resources/orders/repository.ts',
    changes: [
      [
        'findPetOrders(transaction, ids, isDue(now))',
        'findPetOrders(transaction, ids, sql`expires_at <= ${now}`)',
      ],
    ],
  },
};
