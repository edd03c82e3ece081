import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** The path of an empty folder that is removed when the test is over. */
export function temporaryFolder(t: Pick<TestContext, 'after'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
