// The page of packages is true.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

interface Lock {
  readonly packages: Readonly<
    Record<
      string,
      { readonly version: string; readonly license: string; readonly dev?: true; readonly link?: true }
    >
  >;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = 'node_modules/';

/** What loads a module of Node.js for the network, or calls what browsers have. */
const SPEAKS =
  /(?:require\(|from|import\(?)\s*["'](?:node:)?(?:net|tls|https?|http2|dgram|dns(?:\/promises)?|cloudflare:sockets)["']|globalThis\.fetch|(?:await|return|=) fetch\(|new (?:WebSocket|EventSource|XMLHttpRequest)\(/;

const read = (path: string) => readFileSync(`${ROOT}/${path}`, 'utf8');

/** The rows of the table: name, version, licence, why, network. */
const listed = Array.from(read('docs/design/packages.md').matchAll(/^\| `.*$/gm), ([line]) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('`', '')),
);

const production = Object.entries((JSON.parse(read('package-lock.json')) as Lock).packages).filter(
  ([place, { dev, link }]) => place.includes(FOLDER) && dev !== true && link !== true,
);
const nameOf = (place: string) => place.slice(place.lastIndexOf(FOLDER) + FOLDER.length);

test('the page lists every package of production with its version and licence', () => {
  assert.deepEqual(
    listed.map(([name, version, licence]) => [name, version, licence]).toSorted(),
    production.map(([place, { version, license }]) => [nameOf(place), version, license]).toSorted(),
  );
  for (const [name = '', , , why = ''] of listed) assert.notEqual(why, '', name);
});

test('the page says of every package that can speak to a network what for', () => {
  const speaking = production
    .filter(([place]) =>
      globSync('**/*.{js,cjs,mjs}', { cwd: `${ROOT}/${place}`, exclude: [FOLDER, 'test/**', 'bin/**'] }).some(
        (file) => SPEAKS.test(read(`${place}/${file}`)),
      ),
    )
    .map(([place]) => nameOf(place));
  const named = listed.filter(([name = '', , , , network]) => network !== '' && !name.startsWith('node-'));
  assert.deepEqual(
    speaking.toSorted(),
    named.map(([name = '']) => name),
  );
});
