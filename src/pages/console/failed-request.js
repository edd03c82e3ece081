import { html } from 'htm/preact';
import { Time } from '../shared/format.js';
import { usePoll } from '../shared/poll.js';
import { Name } from '../shared/table.js';
import { nameOperation } from '../shared/usage.js';
import { get, withQuery } from './api.js';
import { Answer } from './failed-requests.js';
import { AccountLink, ListTable, useList } from './list.js';
import { Card, Loaded, Page } from './page.js';

/** @typedef {import('./schema.d.ts').FailedRequest} FailedRequest */

/** Seconds. A failed request does not change. */
const ONCE = Number.POSITIVE_INFINITY;

/** One failed request, and those with the same cause. @param {{ id: string }} props */
export function FailedRequestDetails({ id }) {
  const poll = usePoll(
    /** @returns {Promise<FailedRequest>} */ (signal) => get(`/failed-requests/${id}`, signal),
    ONCE,
  );
  const actions = html`<a href="/failed-requests">All failed requests</a>`;
  return html`<${Page} title="Failed request" actions=${actions} badges=${poll.data && html`<${Answer} ...${poll.data} />`}>
    <${Loaded} poll=${poll} label="The failed request">${(/** @type {FailedRequest} */ failed) => html`
      <${Card} title=${failed.message}>
        <dl class="details">${factsOf(failed).map(
          ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`,
        )}</dl>
      <//>
      <${Card} title="Requests with the same cause"><${Same} id=${id} /><//>
    `}<//>
  <//>`;
}

/** @param {FailedRequest} failed @returns {[name: string, value: import('preact').ComponentChildren][]} */
function factsOf({ time, requestId, method, path, operation, parameter, ...client }) {
  const { accountId, account, keyId, address, userAgent } = client;
  return [
    ['Time', html`<${Time} at=${time} isExact />`],
    ['Request id', html`<code>${requestId}</code>`],
    ['Request', html`<code>${method} ${path ?? 'unknown path'}</code>`],
    ['Operation', operation === undefined ? 'The API has no such operation.' : nameOperation(operation)],
    ['Field or parameter', parameter === undefined ? '–' : html`<code>${parameter}</code>`],
    [
      'Account',
      accountId === undefined
        ? 'The request had no key of an account.'
        : html`<${AccountLink} id=${accountId} name=${account ?? `account ${accountId}`} />`,
    ],
    ['Key', keyId ?? '–'],
    ['Client address', html`<code>${address}</code>`],
    ['User agent', userAgent ?? '–'],
  ];
}

/** @param {{ id: string }} props */
function Same({ id }) {
  const list = useList(withQuery('/failed-requests', { like: id, limit: 20 }));
  return html`<${ListTable} list=${list} caption="Failed requests" columns=${SAME} />`;
}

/** @type {import('../shared/table.js').Columns<FailedRequest>} */
const SAME = [
  {
    name: 'Time',
    isName: true,
    cell: ({ id, time }) => html`<a href="/failed-requests/${id}"><${Time} at=${time} isExact /></a>`,
  },
  { name: 'Request id', cell: ({ requestId }) => html`<code><${Name} text=${requestId} /></code>` },
  { name: 'Client address', cell: ({ address }) => html`<span class="fixed">${address}</span>` },
  { name: 'User agent', cell: ({ userAgent = '–' }) => html`<${Name} text=${userAgent} />` },
];
