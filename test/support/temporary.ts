import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/**
 * The path of an empty folder that is removed when the test is over: by its signal, which comes behind all hooks, for a
 * service that is stopped in one still writes.
 */
export function temporaryFolder({ signal }: Pick<TestContext, 'signal'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-'));
  signal.addEventListener('abort', () => rmSync(folder, { recursive: true, force: true }), { once: true });
  return folder;
}
