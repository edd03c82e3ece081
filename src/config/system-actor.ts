// Contract: section 10.
import { userInfo } from 'node:os';
import { getuid } from 'node:process';
import type { OperatorActor } from '../domain/audit.ts';

/** The user of the system who runs this process. */
export function systemActor(): OperatorActor {
  return { kind: 'system', name: userName() };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container, a user may have a number and no name.
    return `user ${getuid?.() ?? 'unknown'}`;
  }
}
