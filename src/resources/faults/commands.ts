// Contract: section 8.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import { normalOrigin } from '../../config/addresses.ts';
import { MINUTE, SECOND } from '../../domain/clock.ts';
import { ERROR_CODES, type ErrorCode, ServiceError } from '../../domain/errors.ts';
import { textIfInstant } from '../../domain/instant.ts';
import { reasonOf } from '../../domain/startup-error.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import {
  type Instant,
  JSON_OPTION,
  type JsonOption,
  LIMIT_OPTION,
  type LimitOption,
  since as sinceOption,
} from '../../terminal/options.ts';
import { type Column, instantCell } from '../../terminal/table.ts';
import type { OperatorRepository } from '../operators/repository.ts';
import type { FaultGroups } from './schema.ts';

interface Repositories {
  readonly operators: OperatorRepository;
}

interface FaultsOptions extends JsonOption, LimitOption {
  readonly code?: ErrorCode;
  readonly operation?: string;
  readonly account?: string;
  readonly since?: Instant;
  readonly console?: string;
  readonly as?: string;
}

/** Milliseconds that the token of a run works, if it is not revoked at the end. */
const TOKEN_LIFETIME = MINUTE;

/** Milliseconds that an answer of the console may take. */
const ANSWER_TIME = 10 * SECOND;

const NOTES = `
The service keeps its last 10,000 faults in memory, so the command asks the console of one running instance. Its
address is --console, or CONSOLE_URL, or that of CONSOLE_HOST and CONSOLE_PORT, by default http://localhost:8081.

Example:
  petstore faults --code key_banned --since 1h`;

const COLUMNS: readonly Column[] = [
  'TIMES',
  'LAST',
  'CODE',
  { title: 'REQUEST', weight: 2 },
  { title: 'ACCOUNT', weight: 3, shrinks: true },
  { title: 'KEY', weight: 1 },
  { title: 'WHY', shrinks: true },
];

export function faultsCommands(program: Command, { withStore, printPages }: Terminal<Repositories>): void {
  program
    .command('faults')
    .description('list why requests failed, newest first; those with the same cause are one row')
    .addOption(new Option('--code <code>', 'only requests that got this error code').choices(ERROR_CODES))
    .option('--operation <text>', 'only operations whose id contains this text')
    .option('--account <text>', 'only accounts whose name contains this text')
    .option(
      '--since <when>',
      'only requests since then: a date (midnight UTC), an ISO 8601 instant, or a duration before now: 1h',
      sinceOption,
    )
    .option('--console <url>', 'the console of the instance to ask', consoleOrigin)
    .option('--as <name>', 'the operator who asks; unless given, the first viewer or else the first operator')
    .option(...LIMIT_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', NOTES)
    .action(({ since, console: address, as: name, json, limit, ...filters }: FaultsOptions) =>
      withStore(async ({ config, clock, store: { operators }, actor }) => {
        const now = clock().unix;
        const operator = requireValue(
          await (name === undefined ? findReader(operators) : operators.find(name)),
        );
        const created = await operators.createToken(actor, operator.id, Math.floor(now) + TOKEN_LIFETIME);
        const query = new URLSearchParams({ limit: '100' });
        for (const [filter, value] of Object.entries({ ...filters, since: textIfInstant(since?.(now)) }))
          if (value !== undefined) query.set(filter, value);
        const { token, record } = requireValue(created);
        try {
          await printPages(
            json,
            readGroups(address ?? config.consoleUrl, token.reveal(), query),
            COLUMNS,
            (row) => [
              row.count,
              instantCell(row.lastTime),
              `${row.status} ${row.code}`,
              `${row.method} ${row.path ?? '-'}`,
              row.account ?? '-',
              row.keyId === null ? '-' : String(row.keyId),
              row.message,
            ],
            { limit },
          );
        } finally {
          await operators.revokeToken(actor, record.id);
        }
      }),
    );
}

function consoleOrigin(text: string): string {
  const origin = normalOrigin(text);
  if (origin !== undefined) return origin;
  throw new InvalidArgumentError('It must be an http or https address without a path.');
}

/** The operator with the least rights. `not_found`: there is none. */
async function findReader(operators: OperatorRepository) {
  const all = (await operators.list()).items;
  const reader = all.find(({ role }) => role === 'viewer') ?? all[0];
  const message = 'There is no operator: create one with petstore operators create NAME --role viewer.';
  return reader === undefined ? ({ error: 'not_found', message } as const) : { value: reader };
}

/** The groups of faults of the instance behind a console, page by page. */
async function* readGroups(address: string, token: string, query: URLSearchParams) {
  for (let path: string | undefined = `/admin/v1/faults/groups?${query.toString()}`; path !== undefined; ) {
    const { groups, next }: Awaited<ReturnType<typeof readPage>> = await readPage(address, path, token);
    yield groups.map(describeGroup);
    path = next;
  }
}

async function readPage(address: string, path: string, token: string) {
  const response = await ask(address + path, token).catch((error: unknown) => {
    const reason = reasonOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
    const message = `The console does not answer at ${address} (${reason}): start the service with CONSOLE_PORT, or name its address with --console.`;
    throw new ServiceError('unavailable', message);
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && Array.isArray(body)) {
    const [, next] = /^<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
    return { groups: body as z.output<typeof FaultGroups>, next };
  }
  const { code = 'unavailable', message } = (body ?? {}) as { code?: ErrorCode; message?: string };
  throw new ServiceError(code, message ?? `There is no console of a pet store at ${address}.`);
}

function ask(url: string, token: string): Promise<Response> {
  return fetch(url, {
    headers: { authorization: `Bearer ${token}` },
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_TIME),
  });
}

function describeGroup({ count, firstTime, last }: z.output<typeof FaultGroups>[number]) {
  const { id, time, status, code, message, method, requestId, address } = last;
  const { parameter, path, operation, accountId, account, keyId, userAgent } = last;
  return {
    id,
    count,
    firstTime,
    lastTime: time,
    status,
    code,
    message,
    parameter: parameter ?? null,
    method,
    path: path ?? null,
    operation: operation ?? null,
    accountId: accountId ?? null,
    account: account ?? null,
    keyId: keyId ?? null,
    requestId,
    address,
    userAgent: userAgent ?? null,
  };
}
