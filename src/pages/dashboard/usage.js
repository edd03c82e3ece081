import { html } from 'htm/preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Chart } from '../shared/chart.js';
import { serviceTime } from '../shared/fetch.js';
import { number } from '../shared/format.js';
import { Check } from '../shared/forms.js';
import { Notice } from '../shared/notice.js';
import { usePoll } from '../shared/poll.js';
import { OPERATIONS } from '../shared/terms.js';
import {
  nameOperation,
  outcomes,
  RANGES,
  REFUSED_COLOUR,
  sumsAt,
  totalOf,
  UsageHead,
} from '../shared/usage.js';
import { FirstRequest } from './first-request.js';
import { createPalette } from './palette.js';

/** Seconds. */
const INTERVAL = 300;

/**
 * @typedef {import('../shared/usage.js').Range} Range
 * @typedef {import('../shared/poll.js').Polled<import('./api.js').AccountUsage>} PolledUsage
 * @typedef {{ nameOf: import('./api.js').NameOf, scopes: readonly string[] | undefined }} Shown
 */

/**
 * The usage of a range. The page always loads that of a month.
 * @param {{ account: import('./api.js').OpenAccount, month: PolledUsage, turn: number } & Shown} props `turn` grows when the page loads again
 */
export function Usage({ account, month, turn, ...shown }) {
  const [range, setRange] = useState(RANGES.month);
  const [isAll, setIsAll] = useState(false);
  const palettes = useRef({ operation: createPalette(), key: createPalette(REFUSED_COLOUR) });
  const rest = { ...shown, range, palettes: palettes.current };
  return html`<${UsageHead} range=${range} onRange=${setRange} />
    <${Check} label="Also requests on the account, its keys and its webhooks" checked=${isAll} onValue=${setIsAll}
      hint="This page sends such requests. They take nothing from the plan." />
    ${
      range.name === 'month' && !isAll
        ? html`<${Charts} usage=${month} ...${rest} />`
        : html`<${OtherRange} key="${range.about} ${isAll}" account=${account} turn=${turn} isAll=${isAll} ...${rest} />`
    }`;
}

/** @typedef {{ range: Range, palettes: Record<'operation' | 'key', ReturnType<typeof createPalette>> } & Shown} ChartsProps */

/** @param {{ account: import('./api.js').OpenAccount, turn: number, isAll: boolean } & ChartsProps} props */
function OtherRange({ account, turn, isAll, ...rest }) {
  const { query, isOver } = rest.range;
  const usage = usePoll(
    (signal) => account.readUsage(query(serviceTime()), isAll, signal),
    isOver ? Number.POSITIVE_INFINITY : INTERVAL,
  );
  useEffect(usage.refresh, [turn]);
  return html`<${Charts} usage=${usage} ...${rest} />`;
}

/** @param {{ usage: PolledUsage } & ChartsProps} props */
function Charts({ range, usage: { data, error, failingSince }, palettes, nameOf, scopes }) {
  const { interval, starts, about } = range;
  const names = data && [...new Set(data.keys.map(({ keyId }) => nameOf(keyId)))].join('\n');
  const plotted = useMemo(() => {
    if (data === undefined) return undefined;
    const all = starts(serviceTime());
    const operations = stacks(data.operations, all, ({ operation }) => operation, describeOperation);
    const describeKey = (/** @type {string} */ id) => ({ label: nameOf(Number(id)), number: Number(id) });
    const keys = stacks(data.keys, all, ({ keyId }) => String(keyId), describeKey);
    const bars = /** @type {const} */ ({ kind: 'bars', starts: all, interval });
    return {
      operation: { ...bars, series: palettes.operation(operations) },
      key: { ...bars, series: palettes.key(keys) },
      outcome: outcomes(data.operations, all, interval),
    };
  }, [data, about, names]);
  if (range.name === 'month' && scopes && data?.operations.length === 0)
    return html`<${FirstRequest} scopes=${scopes} />`;
  if (data?.operations.length === 0)
    return html`<section class="card" aria-label="Requests"><p class="empty">There were no requests in this time.</p></section>`;
  const rest = { error, failingSince };
  const file = `usage-${about}`;
  return html`
    <${Chart} title="Requests by operation" file="${file}-by-operation" plotted=${plotted?.operation} ...${rest} />
    <div class="columns">
      <${Chart} title="Requests by key" file="${file}-by-key" plotted=${plotted?.key} ...${rest} />
      <${Chart} title="Requests by outcome" file="${file}-by-outcome" plotted=${plotted?.outcome} ...${rest} />
    </div>`;
}

const IDS = Object.keys(OPERATIONS);

/** @param {string} id */
function describeOperation(id) {
  const at = IDS.indexOf(id);
  return at === -1
    ? { label: nameOperation(id), number: IDS.length }
    : { label: nameOperation(id), number: at, href: `reference#${id}` };
}

/**
 * The requests by what `idOf` gives, the largest sum first.
 * @template {import('../../../client/src/index.ts').Usage} Row
 * @param {readonly Row[]} rows
 * @param {readonly number[]} starts Unix seconds
 * @param {(row: Row) => string} idOf
 * @param {(id: string) => { label: string, number: number, href?: string }} describe
 */
function stacks(rows, starts, idOf, describe) {
  return [...Map.groupBy(rows, idOf)]
    .map(([id, members]) => {
      const described = describe(id);
      const values = sumsAt(starts, members, totalOf);
      const sum = values.reduce((total, value) => total + value, 0);
      return { id, label: described.label, number: described.number, href: described.href, values, sum };
    })
    .filter(({ sum }) => sum > 0)
    .toSorted((one, other) => other.sum - one.sum);
}

/** Days before its removal from which a deprecated operation has a notice above everything else. */
const NEAR = 90;

/** @param {string} removal a date */
const isNearTo = (removal) => Date.parse(removal) - serviceTime().getTime() < NEAR * 86_400_000;

/**
 * The deprecated operations that the account called in the last 30 days: those that are removed soon as notices, or the
 * others as lines.
 * @param {{ rows: readonly import('./api.js').OperationUsage[] | undefined, isNear?: boolean }} props
 */
export function Deprecations({ rows = [], isNear = false }) {
  return Object.entries(OPERATIONS).map(([id, { name, removal, successor }]) => {
    if (removal === undefined || isNearTo(removal) !== isNear) return null;
    const calls = rows.filter(({ operation }) => operation === id);
    const last = calls.at(-1);
    if (last === undefined) return null;
    const requests = calls.reduce((sum, row) => sum + totalOf(row), 0);
    const title = `“${name}” is deprecated and will be removed on ${removal}`;
    const text = html`This account called <a href="reference#${id}">${name}</a> <strong>${number(requests)}</strong>${' '}
      ${requests === 1 ? 'time' : 'times'} in the last 30 days, the last time on ${last.start.slice(0, 10)} (UTC).
      Use <code>${successor}</code> instead. <a href="reference#deprecation-and-versioning">About deprecations</a>`;
    return isNear
      ? html`<${Notice} key=${id} kind="warn" title=${title}><p>${text}</p><//>`
      : html`<p key=${id} class="muted">${title}. ${text}</p>`;
  });
}
