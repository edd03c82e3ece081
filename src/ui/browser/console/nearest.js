import { html } from 'htm/preact';
import { number } from '../format.js';
import { Fault, Skeleton } from '../notice.js';
import { Name } from '../table.js';
import { Card } from './page.js';

/**
 * The accounts with the smallest share of a limit left.
 * @param {{ rows?: any[], error?: import('../fetch.js').ApiError | undefined, since?: Date | undefined }} props
 */
export function Nearest({ rows, error, since }) {
  return html`<${Card} title="Accounts nearest to their limits">
    ${
      rows
        ? rows.length === 0
          ? html`<p class="empty">No account has used any of its limits.</p>`
          : html`<ul class="ranking">${rows.map((row) => html`<${Account} row=${row} />`)}</ul>`
        : error
          ? html`<${Fault} error=${error} since=${since} />`
          : html`<${Skeleton} label="The list" />`
    }
  <//>`;
}

/** @param {{ row: any }} props */
function Account({ row: { accountId, account, window, limit, remaining } }) {
  const used = Math.min(100, (100 * (limit - remaining)) / limit);
  const kind = used >= 95 ? 'bad' : used >= 80 ? 'warn' : '';
  return html`<li>
    <a href="/accounts/${accountId}"><${Name} text=${account} /></a>
    <span>${number(remaining)} of ${number(limit)} left this ${window}</span>
    <svg class="meter ${kind}" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      <rect width=${used} height="1" fill="currentColor" />
    </svg>
  </li>`;
}
