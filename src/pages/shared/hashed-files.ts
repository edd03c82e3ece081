import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { Content } from '../../http/content.ts';
import { fields } from 'direct-http';

/** The media types of the files that pages load. */
export const TYPES = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
} as const;

export interface PageFile {
  /** Its path in the folder, which ends in one of TYPES. */
  readonly name: string;
  readonly file: URL;
}

/** The icon of every page. */
export const ICON: PageFile = { name: 'shared/icon.svg', file: new URL('icon.svg', import.meta.url) };

/** The file of an address never changes, because the address holds a hash of the content. */
const IMMUTABLE = fields('Cache-Control', 'public, max-age=31536000, immutable');

/** Files of a page in a folder below `parent` that is named after a hash of their content: `<parent><hash>/`. */
export async function hashedFiles(parent: string, files: readonly PageFile[]) {
  const digest = createHash('sha256');
  const byName = new Map<string, Content>();
  for (const { name, file } of files) {
    digest.update(name).update(await readFile(file));
    const type = TYPES[extname(name) as keyof typeof TYPES];
    byName.set(name, new Content(type, () => readFile(file), IMMUTABLE));
  }
  return { base: `${parent}${digest.digest('base64url').slice(0, 16)}/`, byName };
}
