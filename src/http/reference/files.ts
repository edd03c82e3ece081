import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Content } from '../content.ts';
import { fields } from '../fields.ts';

/** Where Scalar's build for browsers is, as npm installed it: one module, and the chunks that it loads when needed. */
const SCALAR = new URL('browser/', import.meta.resolve('@scalar/api-reference'));
const OURS = new URL('browser/', import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** They never change under their address, which holds a hash of all that is in them. */
const IMMUTABLE = fields('Cache-Control', 'public, max-age=31536000, immutable');

/** The files of the reference page. */
export interface ReferenceFiles {
  /** What they are below, beside the page: `reference/<hash>/`. */
  readonly base: string;
  /** By what follows `base`. */
  readonly byName: ReadonlyMap<string, Content>;
}

/** Finds the files and hashes what is in them. */
export async function referenceFiles(): Promise<ReferenceFiles> {
  const chunks = (await readdir(new URL('chunks/', SCALAR))).filter((name) => name.endsWith('.js'));
  const files: [name: string, file: URL][] = [
    ...['start.js', 'accessibility.js', 'style.css', 'icon.svg'].map((name): [string, URL] => [
      name,
      new URL(name, OURS),
    ]),
    ['standalone.esm.js', new URL('standalone.esm.js', SCALAR)],
    ...chunks.map((name): [string, URL] => [`chunks/${name}`, new URL(`chunks/${name}`, SCALAR)]),
  ];
  const digest = createHash('sha256');
  for (const [name, file] of files) digest.update(name).update(await readFile(file));
  const contents = files.map(([name, file]): [string, Content] => {
    const type = TYPES[basename(name).split('.').at(-1) ?? ''] ?? '';
    return [name, new Content(type, () => readFile(file), IMMUTABLE)];
  });
  return {
    base: `reference/${digest.digest('base64url').slice(0, 16)}/`,
    byName: new Map(contents),
  };
}
