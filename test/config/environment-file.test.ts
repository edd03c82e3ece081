// Contract: section 7.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { array, assert as assertProperty, constantFrom, pre, property } from 'fast-check';
import { exportLines, readEnvironmentFile } from '../../src/config/environment-file.ts';
import { program } from '../support/servers.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

const SPELLINGS: Readonly<Record<string, readonly [text: string, values: Record<string, string>]>> = {
  'comments and empty lines': ['# A=1\n\n ; B=2\n\tC=3\n', { C: '3' }],
  'blanks around the name and the value': ['  A \t=\t x y \t\nB=1   ', { A: 'x y', B: '1' }],
  'double quotes': ['A="x  # y" \nB = "it\'s"', { A: 'x  # y', B: "it's" }],
  'single quotes': ['A=\'x \\n "y" \'', { A: 'x \\n "y" ' }],
  'escapes in double quotes': [
    'A="\\"\\\\\\$\\`\\n"\nB="one \\\ntwo"\nC="one\ntwo"',
    { A: '"\\$`\\n', B: 'one two', C: 'one\ntwo' },
  ],
  'escapes without quotes': [
    'A=x\\ y\\"z\\\\\\ \nB=one\\\n  two\nC=1\\',
    { A: 'x y"z\\ ', B: 'one  two', C: '1' },
  ],
  'quotes within a value': ['A=x"y z"\nB="x"\'y\' z', { A: 'x"y z"', B: 'xyz' }],
  'characters of a shell': ['A=$HOME&`id`;x#y', { A: '$HOME&`id`;x#y' }],
  'empty values': ['A=\nB=""\nC=  ', { A: '', B: '', C: '' }],
  'a name twice': ['A=1\nB=1\nA=2\nB=\n', { A: '2', B: '' }],
  'lines that end with CR LF': ['A=1\r\nB="2"\r\n\r\nC=3\\\r\n', { A: '1', B: '2', C: '3' }],
  'a quote without an end': ['A=1\nB="x\nC=3\n', { A: '1', B: 'x\nC=3\n' }],
  'lines that systemd drops': ['export A=1\n2B=3\nC\nD-E=1\n=1\n\uFEFFF=1', {}],
};

for (const [spelling, [text, values]] of Object.entries(SPELLINGS))
  test(`a file of variables can have ${spelling}`, () => {
    assert.deepEqual(Object.fromEntries(readEnvironmentFile(text)), values);
  });

/** The variables that systemd itself reads in a file. Its generator for sessions shares the parser, and drops empty values. */
function readWithSystemd(folder: string, text: string): ReadonlyMap<string, string> {
  const folders = [
    '/usr/lib/systemd/user-environment-generators',
    '/lib/systemd/user-environment-generators',
  ];
  const generator = program('30-systemd-environment-d-generator', 'systemd', { folders });
  mkdirSync(join(folder, 'environment.d'), { recursive: true });
  writeFileSync(join(folder, 'environment.d/petstore.conf'), text);
  const output = execFileSync(generator, {
    encoding: 'utf8',
    stdio: 'pipe',
    env: { XDG_CONFIG_HOME: folder },
  });
  const lines = output.matchAll(/^(\w+)=("?)(.*)\2$/gm);
  return new Map(Array.from(lines, ([, name = '', , value = '']) => [name, withoutEscapes(value)]));
}

function withoutEscapes(text: string): string {
  const named: Record<string, string> = { n: '\n', t: '\t', r: '\r' };
  return text.replace(/\\(.)/g, (_, char: string) => named[char] ?? char);
}

test('a file of variables is read as systemd reads it', (t) => {
  const folder = temporaryFolder(t);
  const pieces = [
    'ONE',
    'TWO',
    '=',
    '=',
    ' ',
    '\t',
    '\n',
    '\n',
    '\r',
    '"',
    "'",
    '\\',
    'x',
    'é',
    '`',
    '#',
    ';',
  ];
  const lines = array(constantFrom(...pieces), { maxLength: 24 }).map((text) => text.join(''));
  assertProperty(
    property(lines, (text) => {
      // Since version 254, a comment ends with its line also after a backslash.
      pre(!/[#;][^\r\n]*\\/.test(text));
      const file = `TWO=0\n${text}`;
      const ours = readEnvironmentFile(file);
      const systemds = readWithSystemd(folder, file);
      for (const name of ['ONE', 'TWO'])
        if (ours.get(name) !== '') assert.equal(ours.get(name), systemds.get(name));
    }),
    { numRuns: 300 },
  );
});

test('a shell that runs the lines gets the variables, except those that are set', () => {
  const variables = new Map([
    ['ONE', 'it\'s $HOME `id` \\ "\n two '],
    ['TWO', 'other'],
    ['THREE', ''],
  ]);
  const print = 'printf "%s|" "$ONE" "$TWO" "${THREE-unset}"';
  const output = execFileSync('/bin/sh', ['-euc', exportLines(variables, '/') + print], {
    encoding: 'utf8',
    env: { TWO: 'own' },
  });
  assert.equal(output, `${variables.get('ONE')}|own||`);
});

test('a relative path of the database begins at the folder of the service', () => {
  const lineOf = (url: string) => exportLines(new Map([['DATABASE_URL', url]]), '/opt/petstore');
  assert.match(lineOf('sqlite:animals.db'), /='sqlite:\/opt\/petstore\/animals\.db'\n$/);
  assert.match(lineOf(''), /='sqlite:\/opt\/petstore\/data\/petstore\.db'\n$/);
  assert.match(lineOf('sqlite:/srv/animals.db'), /='sqlite:\/srv\/animals\.db'\n$/);
  assert.match(lineOf('postgres://db.example/petstore'), /='postgres:\/\/db\.example\/petstore'\n$/);
});
