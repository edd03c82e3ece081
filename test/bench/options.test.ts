import { deepEqual, equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { readOptions } from '../../bench/options.ts';

const read = (...args: string[]) => readOptions(args);

test('only a run of a whole mode is complete and writes results', () => {
  equal(read()?.complete, true);
  equal(read('--scale')?.complete, true);
  equal(read('--grow', '--scale')?.complete, true);
  for (const option of ['--rounds', '--seconds', '--animals']) equal(read(option, '100')?.complete, false);
  equal(read('--only', 'list')?.complete, false);
});

test('--scale measures the scenarios that have a goal there', () => {
  deepEqual(
    read('--scale')?.scenarios.map(({ name }) => name),
    ['list', 'create'],
  );
});

test('a wrong option is refused with a message that names it', () => {
  throws(() => read('--only', 'lists'), /there is no scenario lists/);
  throws(() => read('--grow', '--only', 'list'), /--grow does not go with --only/);
  for (const mode of ['--smoke', '--memory', '--soak']) {
    throws(() => read(mode, '--scale'), new RegExp(`${mode} does not go with --scale`));
  }
  for (const mode of ['--memory', '--soak']) {
    throws(() => read(mode, '--only', 'list'), new RegExp(`${mode} does not go with --only`));
  }
  for (const mode of ['--memory', '--soak']) {
    throws(() => read(mode, '--rounds', '2'), new RegExp(`${mode} does not go with --rounds`));
  }
  throws(() => read('--smoke', '--grow'), /--smoke and --grow cannot be measured together/);
  throws(() => read('--rounds', '0'), /--rounds must be a whole number from 1 to 1000/);
});
