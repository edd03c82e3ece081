// What every command prints, once, as it was recorded. It is the same over both databases.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { listCommands } from '../support/commands.ts';
import { DATABASES } from '../support/databases.ts';
import { run, type Variables } from '../support/process.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';
import { compareRecord } from './support/fixture.ts';
import { hideRandom } from './support/normal.ts';

/** In their order, on one database. `$folder` is a folder with a file of animals, `$key` the first key. */
const COMMANDS: readonly string[] = [
  'migrate --json',
  'accounts create shop --plan pro --json',
  'accounts set shop --plan business --json',
  'accounts suspend shop --json',
  'accounts resume shop --json',
  'accounts rename shop store --json',
  'accounts list --json',
  'keys create --account store --label till --json',
  'keys set 1 --scopes pets:read,pets:write --json',
  'keys find --json',
  'keys rotate 1 --grace 1h --json',
  'keys revoke 2 --json',
  'keys list --json',
  'accounts show store --json',
  'bans list --json',
  'bans lift --account store --json',
  'usage --json',
  'deprecations --json',
  'categories create Dogs --description Puppies --json',
  'categories set Dogs --name Hounds --json',
  'categories delete Hounds --json',
  'import $folder/animals.csv --map categoryId=kind --json',
  'categories list --json',
  'seed 6 --random-seed 7 --orders 3 --account store --json',
  'pets set 1 --name Rexi --json',
  'pets set 1 --breed Beagle --tag calm --tag house-trained --reference A745123 --json',
  'pets assign --account store 1 2 --json',
  'pets show 1 --json',
  'pets delete 2 --json',
  'pets list --json',
  'orders list --json',
  'orders show 1 --json',
  'orders cancel 2 --json',
  'orders complete 3 --json',
  'export --format csv',
  'events --json',
  'webhooks list --json',
  'webhooks show 1 --json',
  'webhooks enable 1 --json',
  'webhooks disable 1 --json',
  'webhooks replay 1 --since 1h --json',
  'operators create ada --role admin --json',
  'operators token ada --expires 90d --json',
  'operators list --json',
  'operators revoke-token 1 --json',
  'operators remove-passkey 1 --json',
  'console --as ada --json',
  'operators remove ada --json',
  'audit --account store --json',
  'config --json',
  'completion bash',
];

/** Those of files. */
const SQLITE_COMMANDS: readonly string[] = [
  'backup $folder/backup.db --json',
  'copy --from sqlite:$folder/backup.db --to sqlite:$folder/copy.db --json',
  'restore $folder/backup.db --json',
];

/** They go on until they are told to end, need a service, or print the help. */
const LEFT_OUT = ['serve', 'listen', 'check', 'help'];

const ANIMALS = 'name,kind,status\nRex,Hounds,available\n,Hounds,\nMax,Hounds,lost\n"Eve, the cat",Cats,\n';

/** Lines of one output that are recorded. */
const MOST_LINES = 12;

/** What a command writes, line by line, and its exit code. */
async function perform(words: string, variables: Variables, input: string): Promise<string> {
  const { code, stdout, stderr } = await run(words.split(' '), variables, input);
  const lines = [`exit ${code}`];
  for (const [name, text] of Object.entries({ out: stdout, err: stderr })) {
    const written = text === '' ? [] : text.replace(/\n$/, '').split('\n');
    lines.push(...written.slice(0, MOST_LINES).map((line) => `${name}: ${line}`));
    if (written.length > MOST_LINES) lines.push(`${name}: (${written.length} lines)`);
  }
  return lines.join('\n');
}

/** Hides what is of this run: instants, secrets, the folder, the address of the database, the user. */
function hide(text: string, folder: string, { DATABASE_URL = '' }: Variables): string {
  const address = DATABASE_URL.replace('sqlite:', '');
  return hideRandom(text.replaceAll(DATABASE_URL, '<database>').replaceAll(address, '<database>'))
    .replaceAll(folder, '<folder>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(?:\.\d+)?Z/g, '<instant>')
    .replaceAll(/"(reset)":\d+/g, '"$1":<instant>')
    .replaceAll(/"(sha256)":"[0-9a-f]{64}"/g, '"$1":"<hash>"')
    .replaceAll(/"(seconds|milliseconds|bytes)":[\d.]+/g, '"$1":<measured>')
    .replaceAll(`"kind":"system","name":"${userInfo().username}"`, '"kind":"system","name":"<user>"');
}

for (const [name, prepare] of Object.entries(DATABASES))
  test(`${name}: every command prints what is recorded`, async (t) => {
    const [variables, folder] = [await prepare(t), temporaryFolder(t)];
    writeFileSync(join(folder, 'animals.csv'), ANIMALS);
    const performAll = async (commands: readonly string[]) => {
      const seen = new Map<string, string>();
      let key = '';
      for (const command of commands) {
        const text = await perform(command.replaceAll('$folder', folder), variables, key);
        key ||= /"key":"([^"]+)"/.exec(text)?.[1] ?? '';
        seen.set(command, hide(text, folder, variables));
      }
      return seen;
    };
    compareRecord('commands', await performAll(COMMANDS));
    if (name === 'SQLite') compareRecord('commands-of-files', await performAll(SQLITE_COMMANDS));
  });

test('every command is recorded', async () => {
  const recorded = [...COMMANDS, ...SQLITE_COMMANDS].map((each) => `${each} `);
  const missing = (await listCommands())
    .map(([words]) => words)
    .filter((words) => !recorded.some((each) => each.startsWith(`${words} `)));
  assert.deepEqual(missing, LEFT_OUT);
});
