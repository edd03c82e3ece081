// Contract: sections 3.1 and 8.
import assert from 'node:assert/strict';
import { type Argument, InvalidArgumentError, type Option } from 'commander';
import { FIRST_INSTANT, LAST_INSTANT } from '../../src/domain/instant.ts';
import { listCommands } from '../support/commands.ts';
import { DATABASES } from '../support/databases.ts';
import { INSTANTS, NUMBERS, TEXTS } from '../support/ends.ts';
import { run, type Variables } from '../support/process.ts';
import { test } from '../support/test.ts';

/** Commands that go on until they are told to end, do as much as they are told, or take the place of a database. */
const LEFT_OUT = new Set(['serve', 'listen', 'seed', 'restore', 'copy', 'console']);

const VALUES = [
  ...NUMBERS,
  ...INSTANTS,
  ...TEXTS,
  '2026-11-20',
  '0000-01-01',
  '9999-12-31',
  '+275760-09-13',
  ...['0', '1', '3650', '3651', '999999999', '9999999999'].flatMap((count) =>
    ['s', 'h', 'd'].map((unit) => count + unit),
  ),
];

/** What parses the value of an option or an argument. */
interface Parsed {
  readonly title: string;
  readonly parse: (text: string, previous: unknown) => unknown;
  /** The words of the whole command with this value. */
  readonly words: (value: string) => string[];
}

const exampleOf = ({ parseArg, required }: Argument) =>
  required ? [parseArg === undefined ? 'acme' : '1'] : [];

/** Every option and argument of every command that has a parser. */
async function parsedValues(): Promise<Parsed[]> {
  const found: Parsed[] = [];
  for (const [name, command] of await listCommands()) {
    const path = name.split(' ');
    if (LEFT_OUT.has(path[0] ?? '')) continue;
    const { registeredArguments } = command;
    for (const { long, parseArg } of command.options as (Option & Pick<Argument, 'parseArg'>)[])
      if (parseArg !== undefined)
        found.push({
          title: `${path.join(' ')} ${long}`,
          parse: parseArg,
          words: (value) => [...path, ...registeredArguments.flatMap(exampleOf), `${long}=${value}`],
        });
    for (const [index, argument] of registeredArguments.entries())
      if (argument.parseArg !== undefined)
        found.push({
          title: `${path.join(' ')} <${argument.name()}>`,
          parse: argument.parseArg,
          words: (value) => [
            ...path,
            ...registeredArguments.flatMap((each, other) =>
              other === index ? ['--', value] : exampleOf(each),
            ),
          ],
        });
  }
  return found;
}

const parsed = await parsedValues();

/** The values that a parser takes. */
function takenBy({ parse, title }: Parsed): string[] {
  return VALUES.filter((text) => {
    try {
      const value = parse(text, undefined);
      const instant = typeof value === 'function' ? (value as (now: number) => unknown)(Date.now()) : 0;
      assert.ok(
        typeof instant === 'number' && instant >= FIRST_INSTANT && instant <= LAST_INSTANT,
        `${title} ${text}`,
      );
      return true;
    } catch (error) {
      assert.ok(error instanceof InvalidArgumentError, `${title} ${text}: ${String(error)}`);
      return false;
    }
  });
}

for (const [name, prepare] of Object.entries(DATABASES))
  test(`${name}: every command answers values at the ends, and no fault is ours`, async (t) => {
    const variables: Variables = await prepare(t);
    await run(['keys', 'create', '--account', 'acme', '--plan', 'free'], variables);
    assert.ok(parsed.length > 20);
    for (const each of parsed) {
      const taken = takenBy(each);
      const chosen = new Set(
        [0, 1, 2, 3].map((third) => taken[Math.round(((taken.length - 1) * third) / 3)]),
      );
      for (const value of chosen) {
        if (value === undefined) continue;
        const { code, stderr } = await run(each.words(value), variables);
        assert.ok(
          Number(code) <= 3 && !stderr.includes('unexpected error'),
          `${each.words(value).join(' ')}: ${stderr}`,
        );
      }
    }
  });

test('a value that an option or an argument refuses is one line that names it, and exit 2', async () => {
  for (const each of parsed) {
    const taken = new Set(takenBy(each));
    const refused = VALUES.find((value) => value !== '' && !taken.has(value) && !/\p{C}/u.test(value));
    if (refused === undefined) continue;
    const { code, stdout, stderr } = await run(each.words(refused), {});
    assert.deepEqual([code, stdout], [2, ''], each.title);
    const name = each.title.split(' ').at(-1) ?? '';
    assert.match(stderr, /^petstore: [^\n]+\n$/, each.title);
    // Some commands lack an option that they need, which comes first.
    const isNamed = stderr.includes(name) && stderr.includes(refused);
    assert.ok(isNamed || stderr.includes('required option'), `${each.title}: ${stderr}`);
  }
});
