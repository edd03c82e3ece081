import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { Result } from '../../bench/compare.ts';
import type { Goals } from '../../bench/goals.ts';
import type { Measurement } from '../../bench/load.ts';
import { warningsOf } from '../../bench/report.ts';
import { measureRounds, type Round } from '../../bench/rounds.ts';
import { rowOf } from '../../bench/rows.ts';

const SCENARIO = { name: 'list', requests: () => [], goals: {} };

function measured(requestsPerSecond: number, others: Partial<Measurement> = {}): Measurement {
  return { requests: requestsPerSecond, requestsPerSecond, p99: 2, loadCpu: 0.5, serverCpu: 1, ...others };
}

function round(bare: number, service: number, peer?: number): Round {
  const ofPeer = peer === undefined ? undefined : measured(peer);
  return { bare: measured(bare), service: measured(service), peer: ofPeer, counted: 1 };
}

function row(rounds: readonly Round[], goals: Goals = {}, paced?: Result['paced']): ReturnType<typeof rowOf> {
  return rowOf({ scenario: SCENARIO, rounds, paced }, goals);
}

test('ratios are taken within each round', () => {
  const { ratio } = row([round(1000, 800), round(100, 80), round(1000, 900)]);
  deepEqual([ratio.median, ratio.lowest, ratio.highest], [0.8, 0.8, 0.9]);
});

test('a figure that equals its goal reaches the goal', () => {
  const rounds = [round(100, 85)];
  equal(row(rounds, { ratio: 0.85 }).ratio.reached, true);
  equal(row(rounds, { ratio: 0.86 }).ratio.reached, false);
  equal(row(rounds).ratio.reached, undefined);
});

test('the peer is compared within each round, if it took part', () => {
  const { times } = row([round(100, 80, 20), round(100, 40, 8)], { times: 5 });
  deepEqual([times?.median, times?.reached], [4.5, false]);
  equal(row([round(100, 80)], { times: 5 }).times, undefined);
});

test('the median latency at a steady rate must stay under its goal', () => {
  const rounds = [2, 2.9, 8].map((p99) => ({ service: { p50: 1, p99 }, bare: { p50: 1, p99: 1 } }));
  const p99Of = (goal: number) => row([round(1, 1)], { p99: goal }, { rate: 1, rounds }).paced?.p99;
  deepEqual([p99Of(3)?.median, p99Of(3)?.reached, p99Of(2.9)?.reached], [2.9, true, false]);
});

test('processor time per request is in microseconds', () => {
  equal(row([round(50_000, 25_000)]).serviceCpuTime, 40);
});

test('a load generator that used its whole core, unlike the server, is named', () => {
  const busy = { loadCpu: 1, serverCpu: 1 };
  const warningCount = (service: Measurement) => warningsOf(row([{ ...round(10, 10), service }]));
  equal(warningCount(measured(10, busy)).length, 0);
  equal(warningCount(measured(10, { ...busy, serverCpu: 0.8 })).length, 1);
});

test('warnings name a bare server without its core, and uncounted requests', () => {
  const idle = { ...round(10, 10), bare: measured(10, { serverCpu: 0.7 }), counted: 0.5 };
  equal(warningsOf(row([round(10, 10), idle])).length, 2);
});

test('disturbed rounds are measured again, up to twice the number of rounds', async () => {
  const shares = [0.5, 1, 0.2, 0.95, 1];
  const measureNext = () =>
    Promise.resolve({ ...round(1, 1), bare: measured(1, { serverCpu: shares.shift() ?? 0.1 }) });
  const sharesOf = async () => (await measureRounds(2, measureNext)).map(({ bare }) => bare.serverCpu);
  deepEqual(await sharesOf(), [1, 0.95]);
  deepEqual(await sharesOf(), [1, 0.1]);
  equal(shares.length, 0);
});
