// Contract: sections 5 and 8.
import { instantOrNull } from '../../domain/instant.ts';
import type { Text } from '../../terminal/view.ts';
import type { AccountRecord } from './rules.ts';

export function toAccount({ name, plan, limits: { perMinute, perDay }, note, suspendedAt }: AccountRecord) {
  return { name, plan, perMinute, perDay, note: note ?? null, suspendedAt: instantOrNull(suspendedAt) };
}

export function describeAccount({ name, plan, limits, note, suspendedAt }: AccountRecord): readonly Text[] {
  const { perMinute, perDay } = limits;
  return [
    [`Account ${name}: plan ${plan}, `, perMinute, ' requests per minute, ', perDay, ' per day.'],
    ...(note === undefined ? [] : [`Note: ${note}`]),
    ...(suspendedAt === undefined
      ? []
      : ['It is suspended: all its keys are refused. To accept them again, use petstore accounts resume.']),
  ];
}
