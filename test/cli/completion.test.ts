// Contract: section 8.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { complete } from '../../src/cli/completion.ts';
import { openTerminal } from '../../src/cli/context.ts';
import { createProgram } from '../../src/cli/main.ts';
import { run } from '../support/process.ts';
import { findFish, findZsh } from '../support/shells.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

/** Writes the completion script of a shell to a file in a folder with the file `animals.csv`. */
async function scriptOf(t: TestContext, shell: string): Promise<{ folder: string; script: string }> {
  const { code, stdout, stderr } = await run(['completion', shell], {});
  assert.equal(code, 0, stderr);
  const folder = temporaryFolder(t);
  // The scripts ask the program.
  symlinkSync(resolve('bin/petstore.js'), join(folder, 'petstore'));
  const script = join(folder, `petstore.${shell}`);
  writeFileSync(script, stdout);
  writeFileSync(join(folder, 'animals.csv'), '');
  return { folder, script };
}

const execute = (file: string, args: readonly string[], cwd: string) =>
  promisify(execFile)(file, args, {
    cwd,
    env: { ...process.env, PATH: [cwd, dirname(process.execPath), process.env['PATH']].join(delimiter) },
  });

/** What the completion function of bash offers for each line. */
async function offeredByBash(
  t: TestContext,
  lines: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const { folder, script } = await scriptOf(t, 'bash');
  const program = `source ${script}
for line in "$@"; do
  COMP_WORDS=($line); [[ $line == *' ' ]] && COMP_WORDS+=('')
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMPREPLY=()
  _petstore
  echo "\${COMPREPLY[*]}"
done`;
  const { stdout } = await execute('bash', ['-c', program, 'bash', ...lines], folder);
  return stdout.split('\n').map((line) => line.split(' ').filter(Boolean));
}

/** What fish offers for each line, without the descriptions. */
async function offeredByFish(
  t: TestContext,
  lines: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const { folder, script } = await scriptOf(t, 'fish');
  const program = `source ${script}; for line in $argv; complete -C $line; echo =; end`;
  const { stdout } = await execute(findFish(), ['--no-config', '-c', program, ...lines], folder);
  return stdout.split('=\n').map((offers) =>
    offers
      .split('\n')
      .map((line) => line.split('\t')[0] ?? '')
      .filter(Boolean),
  );
}

const LINES = {
  'petstore k': ['keys'],
  'petstore bans ': ['lift', 'list'],
  'petstore keys create --p': ['--per-day', '--per-minute', '--plan'],
  'petstore keys create --plan ': ['business', 'enterprise', 'free', 'pro'],
  'petstore keys create --plan pro --account ': [],
  'petstore accounts create keys ': ['--help', '--json', '--note', '--per-day', '--per-minute', '--plan'],
  'petstore help ba': ['backup', 'bans'],
  'petstore help bans ': ['lift', 'list'],
  'petstore completion ': ['bash', 'fish', 'zsh'],
  'petstore export --format ': ['csv', 'ndjson'],
};

test('commands, options and values are offered where they can stand', async () => {
  const program = await createProgram(openTerminal(process));
  for (const [line, expected] of Object.entries(LINES)) {
    const [, ...offered] = complete(program, 'bash', line.split(' ').slice(1)).trimEnd().split('\n');
    assert.deepEqual(offered.toSorted(), expected, line);
  }
});

test('every command that petstore has is offered', async () => {
  const program = await createProgram(openTerminal(process));
  for (const group of [program, ...program.commands]) {
    const before = group === program ? [] : [group.name()];
    const names = group.commands.map((command) => command.name());
    const [, ...offered] = complete(program, 'bash', [...before, ''])
      .trimEnd()
      .split('\n');
    if (names.length > 0) assert.deepEqual(offered, names, group.name());
  }
});

for (const [shell, offered] of Object.entries({ bash: offeredByBash, fish: offeredByFish })) {
  test(`${shell} completes commands, options and values`, async (t) => {
    const lines = ['petstore k', 'petstore keys create --p', 'petstore keys create --plan '] as const;
    const found = await offered(t, lines);
    for (const [index, line] of lines.entries())
      assert.deepEqual(found[index]?.toSorted(), LINES[line], line);
  });
}

test('fish completes the names of files where a command takes one', async (t) => {
  const lines = ['petstore import ani', 'petstore import --refused ani', 'petstore keys revoke ani'];
  const found = await offeredByFish(t, lines);
  assert.deepEqual(found.slice(0, 2), [['animals.csv'], ['animals.csv']]);
  assert.equal(found[2]?.includes('animals.csv'), false);
});

test('zsh completes commands, options, values and files as they are typed', async (t) => {
  const { folder, script } = await scriptOf(t, 'zsh');
  // A terminal in which zsh completes at each tab. The command is one that prints its arguments.
  const program = `zmodload zsh/zpty
zpty shell "TERM=vt100 PS1='ready>' zsh -f -i"
zpty -r shell written '*ready>*'
zpty -w shell 'autoload -Uz compinit; compinit -u -D; source ${script}; petstore() { print -r -- "<$*>" }'
for line in "$@"; do
  zpty -r shell written '*ready>*'
  zpty -w shell "petstore $line"
  zpty -r shell written $'*\\n<*>*'
  print -r -- "\${\${written##*<}%%>*}"
done`;
  const lines = ['keys cr\t--pla\tbus\t', 'import --form\tnd\tani\t', 'help bans lif\t', 'keys revoke ani\t'];
  const { stdout } = await execute(findZsh(), ['-f', '-c', program, 'zsh', ...lines], folder);
  assert.deepEqual(stdout.trimEnd().split('\n'), [
    'keys create --plan business',
    'import --format ndjson animals.csv',
    'help bans lift',
    'keys revoke ani',
  ]);
});

test('completion for an unknown shell exits 2 and names the shells', async () => {
  const { code, stdout, stderr } = await run(['completion', 'tcsh'], {});
  assert.equal(code, 2);
  assert.equal(stdout, '');
  assert.match(stderr, /Allowed choices are bash, zsh, fish\./);
});
