import { html } from 'htm/preact';
import { duration, local, number, share, utc } from './format.js';

/**
 * A bar of which `part` is filled, from 0 to 1. That of a quota warns near its end.
 * @param {{ part: number, isQuota?: boolean, label?: string }} props without a label, screen readers do not read it
 */
export function Meter({ part, isQuota = false, label }) {
  const kind = !isQuota || part < 0.8 ? '' : part < 0.95 ? ' warn' : ' bad';
  return html`<svg class="meter${kind}" viewBox="0 0 100 1" preserveAspectRatio="none"
    ...${label === undefined ? { 'aria-hidden': 'true' } : { role: 'img', 'aria-label': label }}>
    <rect width=${Math.min(100, part * 100)} height="1" fill="currentColor" />
  </svg>`;
}

/** How long a window still runs. The service rounds its end up to a whole second. @param {number} seconds more than 0 */
export const timeLeft = (seconds) => duration(Math.max(1, Math.floor(seconds)));

/**
 * One window of the quota: what is used, and when it begins again.
 * @param {{ name: string, limit: number, remaining: number, reset: number | bigint, now: Date }} props `reset` in Unix seconds
 */
export function QuotaWindow({ name, limit, remaining, reset, now }) {
  const seconds = Number(reset) - now.getTime() / 1000;
  const end = new Date(Number(reset) * 1000);
  // A window that has ended has its full limit again.
  const used = seconds > 0 ? limit - remaining : 0;
  return html`<div class="stack">
    <div class="row"><h2>${name}</h2><span class="muted">${share(used, limit)}</span></div>
    <p><span class="figure">${number(used)}</span> of ${number(limit)} used</p>
    <${Meter} part=${used / limit} isQuota label="${name}: ${number(used)} of ${number(limit)} used" />
    <p class="muted" title=${local(end)}>
      ${seconds > 0 && used > 0 ? `It begins again at ${utc(end)}, in ${timeLeft(seconds)}.` : 'Nothing is used now.'}
    </p>
  </div>`;
}
