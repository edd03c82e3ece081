// The links between the documents.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const documents = globSync('**/*.md', { cwd: ROOT, exclude: ['**/node_modules'] });

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8').replaceAll(/^```[^]*?^```/gm, '');

/** The anchors of the headings of a document, as GitHub makes them. */
function listAnchors(path: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of read(path).matchAll(/^#+ (.+)$/gm)) {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    let free = anchor;
    for (let number = 1; anchors.has(free); number++) free = `${anchor}-${number}`;
    anchors.add(free);
  }
  return anchors;
}

function fault(path: string, link: string): string | undefined {
  const [file = '', anchor] = link.split('#', 2);
  const target = file === '' ? path : join(dirname(path), file);
  if (!existsSync(join(ROOT, target))) return `${path}: there is no ${target}`;
  if (anchor === undefined || statSync(join(ROOT, target)).isDirectory() || !target.endsWith('.md')) return;
  return listAnchors(target).has(anchor) ? undefined : `${path}: ${target} has no #${anchor}`;
}

// A link that begins with {{site}} leads to the service.
test('every link in a document leads to a file and a heading that exist', () => {
  const links = documents
    .flatMap((path) =>
      Array.from(read(path).matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => ({ path, link })),
    )
    .filter(({ link }) => !/^(?:https?:|mailto:|\/|\{\{site)/.test(link));
  assert.ok(links.length > 200);
  const faults = links.map(({ path, link }) => fault(path, link)).filter((text) => text !== undefined);
  assert.deepEqual(faults, []);
});
