// The output of every command, as it was recorded.
import { writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { sharedServers } from '../support/instances.ts';
import { type Outcome, run, type Variables } from '../support/process.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';
import { compareRecord } from './support/fixture.ts';
import { hideRandom } from './support/normal.ts';
import { type Command, type CommandRow, COMMANDS, WRONG_USE } from './scenarios/commands.ts';

/** Lines of one output that are recorded; of more, the first and the last. */
const MOST_LINES = 60;

/** Commands at once that do not depend on each other. */
const AT_ONCE = 4;

const commandOf = (row: CommandRow): Command => (typeof row === 'string' ? { args: row } : row);

async function perform(
  row: CommandRow,
  folder: string,
  variables: Variables,
  saved: Map<string, string> = new Map(),
): Promise<string> {
  const { args, input = '', env = {}, save = {}, file } = commandOf(row);
  const fill = (text: string) =>
    text.replaceAll(/\$(\w+)/g, (_, name: string) => (name === 'folder' ? folder : (saved.get(name) ?? '')));
  if (file !== undefined) writeFileSync(join(folder, file[0]), file[1]);
  const outcome = await run(
    fill(args)
      .split(' ')
      .filter((word) => word !== ''),
    { ...variables, ...env },
    fill(input),
  );
  for (const [name, pattern] of Object.entries(save))
    saved.set(name, pattern.exec(outcome.stdout)?.[1] ?? '');
  return describeOutcome(commandOf(row), outcome, folder, variables);
}

function describeOutcome(command: Command, outcome: Outcome, folder: string, variables: Variables): string {
  const lines = Object.entries(command.env ?? {}).map(([name, value]) => `${name}=${value}`);
  if (command.input !== undefined) lines.push(`> ${JSON.stringify(command.input)}`);
  lines.push(`exit ${outcome.code}`);
  for (const [name, text] of [
    ['out', outcome.stdout],
    ['err', outcome.stderr],
  ] as const)
    if (text !== '')
      lines.push(...describeText(hide(text, folder, variables)).map((line) => `${name}: ${line}`));
  return lines.join('\n');
}

function describeText(text: string): string[] {
  const lines = text.replace(/\n$/, '').split('\n');
  if (!text.endsWith('\n')) lines.push('(no line break at the end)');
  if (lines.length <= MOST_LINES) return lines;
  return [...lines.slice(0, 5), `(${lines.length - 10} lines)`, ...lines.slice(-5)];
}

/** Hides what is of this run: instants, secrets, the folder, the addresses of the stores, the user. */
function hide(text: string, folder: string, { DATABASE_URL = '', REDIS_URL = '' }: Variables): string {
  const { hostname, port } = DATABASE_URL.startsWith('postgres')
    ? new URL(DATABASE_URL)
    : { hostname: '', port: '' };
  let hidden = text;
  for (const [part, placeholder] of [
    [DATABASE_URL, '<database>'],
    [new URL(DATABASE_URL || 'x:').href.replace(/\/\/([^:@]*):[^@]*@/, '//$1:***@'), '<database>'],
    [REDIS_URL, '<redis>'],
    [folder, '<folder>'],
    [hostname === '' ? '' : `${hostname}:${port}`, '<server>'],
  ] as const)
    if (part !== '') hidden = hidden.replaceAll(part, placeholder);
  return hideRandom(hidden)
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(?:\.\d+)?Z/g, '<instant>')
    .replaceAll(/"(reset)":\d+/g, '"$1":<instant>')
    .replaceAll(/"(sha256)":"[0-9a-f]{64}"/g, '"$1":"<hash>"')
    .replaceAll(/"(seconds|milliseconds|durationMs|bytes)":[\d.]+/g, '"$1":<measured>')
    .replaceAll(/petstore_test_\d+_\d+/g, '<name>')
    .replaceAll(`"kind":"system","name":"${userInfo().username}"`, '"kind":"system","name":"<user>"');
}

async function performAll(folder: string, variables: Variables, only: 'sqlite' | 'postgres') {
  const seen = new Map<string, string>();
  const saved = new Map<string, string>();
  for (const row of COMMANDS) {
    const command = commandOf(row);
    if (command.only !== undefined && command.only !== only) continue;
    seen.set(newTitle(seen, row), await perform(row, folder, variables, saved));
  }
  return seen;
}

/** The command as it is typed, with a number if it has been typed before. */
function newTitle(seen: ReadonlyMap<string, string>, row: CommandRow): string {
  const title = `petstore ${commandOf(row).args}`;
  for (let number = 1; ; number++) {
    const numbered = number === 1 ? title : `${title} (${number})`;
    if (!seen.has(numbered)) return numbered;
  }
}

test('SQLite: every command prints what is recorded', async (t) => {
  const folder = temporaryFolder(t);
  const variables = { DATABASE_URL: `sqlite:${join(folder, 'petstore.db')}`, PORT: '0' };
  compareRecord('commands', await performAll(folder, variables, 'sqlite'));
});

test('PostgreSQL and Redis: every command prints what is recorded', async (t) => {
  const variables = await sharedServers(t);
  const seen = await performAll(temporaryFolder(t), variables, 'postgres');
  compareRecord('commands', seen, { name: 'postgres', mask: (text) => text });
});

test('every wrong use gets the recorded line and exit code', async (t) => {
  const folder = temporaryFolder(t);
  const variables = { DATABASE_URL: `sqlite:${join(folder, 'petstore.db')}` };
  const texts: string[] = [];
  const rows = WRONG_USE.entries();
  const worker = async () => {
    for (const [index, row] of rows) texts[index] = await perform(row, folder, variables);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const seen = new Map<string, string>();
  for (const [index, row] of WRONG_USE.entries()) seen.set(newTitle(seen, row), texts[index] ?? '');
  compareRecord('wrong-use', seen);
});
