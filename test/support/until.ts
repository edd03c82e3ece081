import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';

/** Milliseconds that something may take on a busy machine; longer than a lease. */
const PATIENCE = 120_000;

/** Waits until it is so, and fails when it never is. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE;
  while (!(await condition())) {
    assert.ok(performance.now() < end, `it never came about: ${condition.toString()}`);
    await wait(10);
  }
}
