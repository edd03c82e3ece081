import { html } from 'htm/preact';
import { number } from '../format.js';
import { Notice } from '../notice.js';
import { totalOf } from '../usage.js';

/**
 * A notice for each deprecated operation that the account called in the last 30 days.
 * @param {{
 *   deprecated: readonly import('./api.js').Deprecated[] | undefined,
 *   rows: readonly import('./api.js').OperationUsage[] | undefined,
 * }} props
 */
export function DeprecationNotices({ deprecated = [], rows = [] }) {
  return deprecated.map(({ name, removal, successor }) => {
    const calls = rows.filter(({ operation }) => operation === name);
    const last = calls.at(-1);
    if (last === undefined) return null;
    const requests = calls.reduce((sum, row) => sum + totalOf(row), 0);
    return html`<${Notice} key=${name} kind="warn" title="${name} is deprecated and will be removed on ${removal}">
      <p>
        This account called it <strong>${number(requests)}</strong> ${requests === 1 ? 'time' : 'times'} in the last 30 days, the
        last time on ${last.start.slice(0, 10)} (UTC). Use <code>${successor}</code> instead.
        ${' '}<a href="reference#tag/deprecation-and-versioning">About deprecations</a>
      </p>
    <//>`;
  });
}
