import { type Html, html } from './html.ts';

/** The Markdown that the description is written in, as HTML: paragraphs, second-level headings, tables and `code`. */
export function markdown(text: string): Html {
  return html`${text.split('\n\n').map(block)}`;
}

function block(text: string): Html {
  if (text.startsWith('## ')) return html`<h2>${text.slice(3)}</h2>\n`;
  if (text.startsWith('|')) return table(text.split('\n').map(cells));
  return html`<p>${markdownLine(text)}</p>\n`;
}

function table([head = [], , ...rows]: readonly (readonly string[])[]): Html {
  return html`<div class="wide"><table>
<thead><tr>${head.map((cell) => html`<th scope="col">${markdownLine(cell)}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${markdownLine(cell)}</td>`)}</tr>\n`)}</tbody>
</table></div>\n`;
}

function cells(row: string): string[] {
  return row.slice(2, -2).split(' | ');
}

/** One line of it: text and `code`. */
export function markdownLine(text: string): Html {
  // Backticks come in pairs: every other part is code.
  const parts = text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
  return html`${parts}`;
}
