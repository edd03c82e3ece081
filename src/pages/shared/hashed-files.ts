import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { extname } from 'node:path';
import { Content } from '../../http/content.ts';
import { fields } from 'direct-http';

/** The media types of the files that pages load. */
export const TYPES = {
  '.js': 'text/javascript; charset=utf-8',
  '.ts': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
} as const;

export interface PageFile {
  /** Its path in the folder, which ends in one of TYPES. */
  readonly name: string;
  readonly file: URL;
}

/** A file that is made of others. */
interface MadeFile {
  readonly name: string;
  readonly text: string;
}

const PROJECT = new URL('../../../', import.meta.url);

/** A file of the project, under its path in the project. */
export function projectFile(path: string): PageFile {
  return { name: path, file: new URL(path, PROJECT) };
}

/** The icon of every page. */
export const ICON = projectFile('src/pages/shared/icon.svg');

/** The script that every page runs before it is drawn. */
export const THEME_START = projectFile('src/pages/shared/theme-start.js');

/** The text that browsers load: JavaScript instead of TypeScript. */
export async function readSource({ name, file }: PageFile): Promise<string> {
  const text = await readFile(file, 'utf8');
  return name.endsWith('.ts') ? stripTypes(text) : text;
}

const emitWarning: typeof process.emitWarning = process.emitWarning.bind(process);

/** Node.js prints a warning at the first call, because the function is experimental. Operators cannot act on it. */
function stripTypes(text: string): string {
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(text);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** The file of an address never changes, because the address holds a hash of the content. */
const IMMUTABLE = fields('Cache-Control', 'public, max-age=31536000, immutable');

/** Files of a page in a folder below `parent` that is named after a hash of their content: `<parent><hash>/`. */
export async function hashedFiles(parent: string, files: readonly (PageFile | MadeFile)[]) {
  const digest = createHash('sha256');
  const byName = new Map<string, Content>();
  for (const file of files) {
    const read = 'text' in file ? () => file.text : () => readSource(file);
    digest.update(file.name).update(await read());
    const type = TYPES[extname(file.name) as keyof typeof TYPES];
    byName.set(file.name, new Content(type, read, IMMUTABLE));
  }
  return { base: `${parent}${digest.digest('base64url').slice(0, 16)}/`, byName };
}
