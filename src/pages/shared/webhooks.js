import { html } from 'htm/preact';
import { number, Time } from './format.js';
import { Badge } from './notice.js';
import { Name } from './table.js';

/** Why an endpoint is disabled. */
const REASONS = {
  request: 'on request',
  gone: 'it answered 410',
  failing: 'it failed for 5 days',
  copied: 'the database is a copy',
};

/** The address of a webhook, and what it is for. @param {{ url: string, description?: string | undefined }} props */
export function Endpoint({ url, description }) {
  return html`<${Name} text=${url} />${description && html`<span class="muted">${description}</span>`}`;
}

/**
 * Whether a webhook gets events, and why not.
 * @param {{ enabled: boolean, disabledReason?: keyof typeof REASONS | undefined, failingSince?: string | undefined }} props
 */
export function WebhookState({ enabled, disabledReason, failingSince }) {
  return html`
    ${!enabled && html`<${Badge} kind="bad">disabled<//> <span class="muted">${disabledReason && REASONS[disabledReason]}</span>`}
    ${enabled && !failingSince && html`<${Badge} kind="good">enabled<//>`}
    ${
      enabled &&
      failingSince &&
      html`<${Badge} kind="warn">failing<//> <span class="muted">since <${Time} at=${failingSince} /></span>`
    }
  `;
}

/** What became of an attempt: `204`, `503`, `redirect 302`, `timeout`. @param {import('../../../client/src/index.ts').Delivery | import('../console/schema.d.ts').Delivery} delivery */
export function outcome({ httpStatus, failure }) {
  const words = failure === 'status' ? undefined : failure?.replaceAll('_', ' ');
  return [words, httpStatus].filter((part) => part !== undefined).join(' ');
}

/** Attempts to deliver events. @type {import('./table.js').Column<Parameters<typeof outcome>[0]>[]} */
export const DELIVERY_COLUMNS = [
  { name: 'Time', cell: ({ at }) => html`<${Time} at=${at} isExact />` },
  { name: 'Event', isName: true, cell: ({ type }) => html`<span class="fixed">${type}</span>` },
  { name: 'Event id', cell: ({ eventId }) => html`<code><${Name} text=${eventId} /></code>` },
  { name: 'Attempt', isNumber: true, cell: ({ attempt }) => attempt },
  {
    name: 'Result',
    cell: (delivery) => html`<span class="fixed">
      <${Badge} kind=${delivery.status === 'failed' ? 'bad' : 'good'}>${delivery.status}<//> ${outcome(delivery)}
    </span>`,
  },
  { name: 'Took', isNumber: true, cell: ({ durationMs }) => `${number(Number(durationMs))} ms` },
];

/** The attempts to show, as the choices of a field. */
export const DELIVERY_CHOICES = [
  { value: '', text: 'All' },
  { value: 'failed', text: 'Failed' },
  { value: 'succeeded', text: 'Succeeded' },
];
