// Contract: sections 5 and 8.
import { instantOrNull } from '../../domain/instant.ts';
import type { Output } from '../../terminal/output.ts';
import type { AccountRecord } from './rules.ts';

export function toAccount({ name, plan, limits: { perMinute, perDay }, note, suspendedAt }: AccountRecord) {
  return { name, plan, perMinute, perDay, note: note ?? null, suspendedAt: instantOrNull(suspendedAt) };
}

export function printAccount(
  { formatCount, printJson, printLine }: Output,
  account: AccountRecord,
  json: true | undefined,
): void {
  if (json) return printJson(toAccount(account));
  const { name, plan, limits, note, suspendedAt } = account;
  printLine(
    `Account ${name}: plan ${plan}, ${formatCount(limits.perMinute)} requests per minute, ${formatCount(limits.perDay)} per day.`,
  );
  if (note !== undefined) printLine(`Note: ${note}`);
  if (suspendedAt !== undefined)
    printLine(
      'It is suspended: all its keys are refused. To accept them again, use petstore accounts resume.',
    );
}
