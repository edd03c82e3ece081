// Contract: all sections that can be seen from outside. Each fault is told apart from every other one.
import assert from 'node:assert/strict';
import type { Report } from '../../src/conformance/run.ts';
import { checkService, listPromises } from '../support/checked-service.ts';
import { startFaultyService } from '../support/faulty-service.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { CONTRACT_FAULTS } from '../support/planted-contract-faults.ts';
import { startTestService } from '../support/service.ts';
import { startForFile, test } from '../support/test.ts';

const BUSINESS = { perMinute: 1_000, perDay: 100_000 };

/** Milliseconds that pass with each request, so that a run has more than one minute. */
const STEP = 300;

const file = lifetimeOfFile();
const { service, faulty } = await startForFile(async () => {
  const started = await startTestService(file);
  return { service: started, faulty: await startFaultyService(file, started.url) };
});

/** What a report says of the fault, without what is of one run. */
const seen = ({ outcomes }: Report) =>
  outcomes
    .flatMap(({ section, promise, findings: [finding] }) =>
      finding === undefined ? [] : `${section} ${promise}: ${JSON.stringify(finding)}`,
    )
    .join('\n')
    .replaceAll(/[\da-f]{16}|\d{2,}/g, '#');

const reports = new Map<string, string>();

for (const { name, breaks, begin, limits = BUSINESS } of CONTRACT_FAULTS)
  test(`the check tells: ${name}`, async () => {
    const key = await service.issueKey({ account: name, limits });
    const behave = begin();
    faulty.behave((request, forward) => {
      service.clock.advance(STEP);
      return behave(request, forward);
    });
    const report = await checkService(faulty.url, key, service.clock);
    const broken = listPromises(report, 'broken');
    const named = broken.map((promise) => breaks.find((start) => promise.startsWith(start)) ?? promise);
    assert.deepEqual(named.toSorted(), breaks.toSorted(), seen(report));
    assert.equal(report.stopped, undefined);
    reports.set(name, seen(report));
  });

test('no two faults look the same', () => {
  for (const [name, text] of reports)
    for (const [other, same] of reports) assert.ok(name === other || text !== same, `${name}, ${other}`);
});
