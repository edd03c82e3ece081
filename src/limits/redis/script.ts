import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A Lua script, and the digest that a server knows it by. */
export interface Script {
  readonly source: string;
  readonly sha: string;
}

export type Arguments = readonly (string | number)[];

/** Reads a script from this folder. */
export function loadScript(name: string): Script {
  const source = readFileSync(new URL(name, import.meta.url), 'utf8');
  return { source, sha: hash('sha1', source, 'hex') };
}
