import { html } from 'htm/preact';
import { ChartFrame } from './chart-frame.js';
import { compact, number } from './format.js';
import { Meter } from './meter.js';
import { Name } from './table.js';

/**
 * Values by name, as horizontal bars with the largest first. The table and the CSV have all of them.
 * @param {{
 *   title: string, file: string, name: string, unit: string, values?: readonly { label: string, value: number }[],
 *   most?: number, error?: import('./fetch.js').ApiError | undefined, failingSince?: Date | undefined, empty?: string,
 * }} props `name` and `unit` are the headers of the columns; there are at most `most` bars
 */
export function Ranking({ title, name, unit, values, most = 10, ...rest }) {
  const sorted = values?.toSorted((one, other) => other.value - one.value);
  const largest = sorted?.[0]?.value ?? 0;
  const frame = {
    title,
    ...rest,
    isEmpty: values !== undefined && largest === 0,
    values: sorted && { columns: [name, unit], rows: sorted.map(({ label, value }) => [label, value]) },
  };
  return html`<${ChartFrame} ...${frame}>
    <ul class="ranking">
      ${sorted?.slice(0, most).map(
        ({ label, value }) =>
          html`<li>
            <${Name} text=${label} />
            <span class="number" title=${number(value)}>${compact(value)}</span>
            <${Meter} part=${value / largest} />
          </li>`,
      )}
    </ul>
    ${sorted && sorted.length > most && html`<p class="muted">The table has all ${sorted.length}.</p>`}
  <//>`;
}
