// Contract: section 7.
import { resolve } from 'node:path';
import { DEFAULT_DATABASE_URL } from './database-url.ts';

/** A name, or a line without one, with the blanks and comments before it. */
const NAME = /(?:[ \t\r\n]|[#;][^\r\n]*)*([^][^=\r\n]*)?(=?)/y;

/** A quoted piece of a value. Without an end, it goes to the end of the file. */
const QUOTED = /[ \t]*(?:'([^']*)'?|"((?:[^"\\]|\\[^])*)(?:"|\\?$))/y;

/** What follows the quoted pieces. Blanks at its end count only before a backslash. */
const PLAIN = /[ \t]*((?:[ \t]*(?:[^\\ \t\r\n]|\\(?:[^]|$)))*)[ \t]*/y;

/** systemd drops other names. */
const ACCEPTED_NAME = /^[A-Za-z_]\w*$/;

/**
 * The variables of a file, read as `EnvironmentFile=` of systemd reads them. Two readers that differ would use two
 * databases, so this follows systemd and not a shell.
 */
export function readEnvironmentFile(text: string): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  let end = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = end;
    const match = pattern.exec(text);
    if (match !== null) end = pattern.lastIndex;
    return match;
  };
  while (end < text.length) {
    const [, name = '', hasValue = ''] = take(NAME) ?? [];
    if (hasValue === '') continue;
    let value = '';
    for (let piece = take(QUOTED); piece !== null; piece = take(QUOTED))
      value += piece[1] ?? unescapeQuoted(piece[2] ?? '');
    value += unescapePlain(take(PLAIN)?.[1] ?? '');
    const variable = name.trimEnd();
    if (ACCEPTED_NAME.test(variable)) variables.set(variable, value);
  }
  return variables;
}

/** A backslash before a newline joins two lines. */
function unescapeQuoted(text: string): string {
  return text.replace(/\\([^])/g, (escape, char: string) => {
    if (char === '\n') return '';
    return '"\\`$'.includes(char) ? char : escape;
  });
}

function unescapePlain(text: string): string {
  return text.replace(/\\([^]?)/g, (_, char: string) => (/[\r\n]/.test(char) ? '' : char));
}

/**
 * Lines for a POSIX shell that export the variables that are not set yet.
 * @param folder where the service runs: it reads relative paths from there
 */
export function exportLines(variables: ReadonlyMap<string, string>, folder: string): string {
  return Array.from(variables, ([name, value]) => {
    const text = name === 'DATABASE_URL' ? absoluteDatabaseUrl(value, folder) : value;
    return `[ "\${${name}+set}" ] || export ${name}='${text.replaceAll("'", "'\\''")}'\n`;
  }).join('');
}

function absoluteDatabaseUrl(value: string, folder: string): string {
  // An empty variable counts as unset.
  const [, path] = /^sqlite:([^]+)/.exec(value || DEFAULT_DATABASE_URL) ?? [];
  return path === undefined ? value : `sqlite:${resolve(folder, path)}`;
}
