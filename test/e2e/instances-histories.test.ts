// Contract: section 3.
import assert from 'node:assert/strict';
import { inventPlans, record, type Send } from '../support/histories.ts';
import { startInstances } from '../support/instances.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { type Animal, isCatalogueHistory, type Recorded } from '../support/catalogue-model.ts';
import { rounds } from '../support/rounds.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
const instances = await startForFile(() => startInstances(lifetime, 5, { slowNetwork: 3 }));
/** What the histories so far have left, newest first. */
let catalogue: readonly Animal[] = [];

/** Animals that a page has room for. */
const PAGE = 100;

/** The animals after a history that later lists can show: its last operation lists the newest. */
function after(earlier: readonly Animal[], history: readonly Recorded[]): readonly Animal[] {
  const last = history.at(-1);
  assert.ok(last?.kind === 'list');
  const known = new Set(earlier.map(({ id }) => id));
  const all = [...last.answer.filter(({ id }) => !known.has(id)), ...earlier];
  const available = all.filter(({ status }) => status === 'available').slice(0, PAGE);
  return [...new Set([...all.slice(0, PAGE), ...available])];
}

function judge(history: readonly Recorded[], earlier: readonly Animal[]): void {
  assert.ok(isCatalogueHistory(history, earlier), `no order explains ${JSON.stringify(history)}`);
}

const HISTORIES = rounds(100, 20);

test('histories of create, list and get over three instances are linearizable', async (t) => {
  let overlapping = 0;
  for (const plan of inventPlans(HISTORIES)) {
    const history = await record(plan, { send: instances.send, newest: catalogue[0]?.id ?? 0 });
    judge(history, catalogue);
    catalogue = after(catalogue, history);
    overlapping += history.filter(({ began, ended }, index) =>
      history.some((other, at) => at !== index && other.began < ended && began < other.ended),
    ).length;
  }
  t.diagnostic(`${overlapping} operations overlapped another`);
  assert.ok(overlapping > 24 * HISTORIES, 'most operations must have had company, or nothing was tried');
});

test('histories stay linearizable when an instance is killed', async () => {
  const { send, services } = instances;
  let unanswered = 0;
  for (const [round, plan] of inventPlans(3).entries()) {
    // Instances 0 and 1 live on; the third of each history is another one, and dies.
    const third = 2 + round;
    const toThree: Send = (instance, ...request) => send(instance === 2 ? third : instance, ...request);
    const onEnd = (count: number) => {
      if (count === 20) services[third]?.child.kill('SIGKILL');
    };
    const history = await record(plan, { send: toThree, newest: catalogue[0]?.id ?? 0, onEnd });
    judge(history, catalogue);
    catalogue = after(catalogue, history);
    unanswered += history.filter(({ ended }) => ended === Number.POSITIVE_INFINITY).length;
  }
  assert.ok(unanswered > 0, 'some creates must have gone unanswered, or nothing was tried');
});
