// Contract: section 2.7.
import { type Transition, TRANSITIONS } from '../resources/pets/rules.ts';
import { PetStatus } from '../resources/pets/schema.ts';
import { code, table } from './markdown.ts';

/* The states of an animal, drawn and told from the one table of what may happen to it. */

/** A state in words; `any` includes an animal without a status. */
function named(state: Transition['from' | 'to']): string {
  return state === 'any' ? 'any status' : state;
}

function guard({ hasOpenOrder }: Transition): string {
  return hasOpenOrder ? 'an order is open' : 'no order is open';
}

/** The picture in one paragraph. */
export function petStatesText(): string {
  const steps = TRANSITIONS.map(
    (each) => `From ${named(each.from)} to ${named(each.to)} if ${guard(each)}: ${each.event}.`,
  );
  return `What can happen to an animal. ${steps.join(' ')}`;
}

/** The picture as a table in Markdown. */
export function petStatesTable(): string {
  const cell = (state: Transition['from' | 'to']) =>
    PetStatus.options.some((status) => status === state) ? code(state) : named(state);
  return table(
    ['Event', 'Open order', 'Status before', 'Status after'],
    TRANSITIONS.map((each) => [each.event, each.hasOpenOrder ? 'yes' : 'no', cell(each.from), cell(each.to)]),
  );
}

/* Pixels. */
const WIDTH = 410;
const HEIGHT = 274;
const BOX = { width: 92, height: 34, top: 92, margin: 26 };
const FRAME = { left: 12, top: 16, bottom: 196 };
const LINE = 15;

/** The horizontal centre of a status. */
function centre(index: number): number {
  const first = BOX.margin + BOX.width / 2;
  return first + (index * (WIDTH - 2 * first)) / (PetStatus.options.length - 1);
}

/** An SVG: a box for each status in a frame for any of them, and an arrow for each pair of states. */
export function petStatesPicture(): string {
  const boxes = PetStatus.options.map((status, index) => box(status, centre(index), BOX.top));
  const arrows = Map.groupBy(TRANSITIONS, ({ from, to }) => `${from} ${to}`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-labelledby="title desc">
  <title id="title">The states of an animal</title>
  <desc id="desc">${petStatesText()}</desc>
  <style>
    svg { color: #2a2f36; --paper: #fff; --line: #7b8490; --state: #0063a6; --frame: #b9c0c9; }
    @media (prefers-color-scheme: dark) {
      svg { color: #e4e7eb; --paper: #16181b; --line: #98a2ae; --state: #5fb0f5; --frame: #4a525c; }
    }
    text { fill: currentColor; text-anchor: middle; }
    .paper { fill: var(--paper); }
    .frame { fill: none; stroke: var(--frame); stroke-dasharray: 5 4; }
    .state { fill: var(--state); fill-opacity: 0.18; stroke: var(--state); }
    .gone { fill: none; stroke: var(--line); }
    .arrow { fill: none; stroke: var(--line); stroke-width: 1.5; marker-end: url(#head); }
    .head { fill: var(--line); }
    .name { font-size: 14px; font-weight: 600; }
    .left { text-anchor: start; }
  </style>
  <defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>
  <rect class="paper" width="${WIDTH}" height="${HEIGHT}" rx="8"/>
  <rect class="frame" x="${FRAME.left}" y="${FRAME.top}" width="${WIDTH - 2 * FRAME.left}" height="${FRAME.bottom - FRAME.top}" rx="8"/>
  <text class="left" x="${FRAME.left + 12}" y="${FRAME.top + 20}">any status, or none</text>
  ${boxes.join('\n  ')}
  ${[...arrows.values()].map(arrow).join('\n  ')}
</svg>
`;
}

function box(name: string, x: number, top: number, style = 'state'): string {
  const { width, height } = BOX;
  return `<rect class="${style}" x="${x - width / 2}" y="${top}" width="${width}" height="${height}" rx="6"/><text class="name" x="${x}" y="${top + 22}">${name}</text>`;
}

function arrow(same: readonly Transition[]): string {
  const [first] = same;
  if (first === undefined) return '';
  const { from, to } = first;
  const events = same.map(({ event }) => event);
  const [start, end] = [from, to].map((state) => PetStatus.options.findIndex((status) => status === state));
  if (start !== undefined && end !== undefined && start !== -1 && end !== -1)
    return between(start, end, events);
  if (from !== 'any') throw new Error(`There is no drawing of ${from} to ${to}.`);
  const lines = [...events, guard(first)];
  const bottom = FRAME.bottom;
  if (to === 'any') {
    const x = WIDTH / 4;
    const loop = `M${x - 34} ${bottom}C${x - 34} ${bottom + 40} ${x + 34} ${bottom + 40} ${x + 34} ${bottom + 2}`;
    return `<path class="arrow" d="${loop}"/>${label(lines, x, bottom + 46)}`;
  }
  const x = WIDTH - BOX.margin - BOX.width / 2;
  const middle = x - BOX.width / 2 - 60;
  return `<path class="arrow" d="M${x} ${bottom}V${bottom + 32}"/>${box(to, x, bottom + 34, 'gone')}${label(lines, middle, bottom + 46)}`;
}

/** An arc from one status to another: above the boxes to the right, below them to the left. */
function between(start: number, end: number, events: readonly string[]): string {
  const isAbove = end > start;
  const edge = isAbove ? BOX.top : BOX.top + BOX.height;
  const peak = edge + (isAbove ? -36 : 36);
  const inset = isAbove ? 14 : -14;
  const [left, right] = [centre(start) + inset, centre(end) - inset];
  const path = `M${left} ${edge}C${left} ${peak} ${right} ${peak} ${right} ${edge + (isAbove ? -2 : 2)}`;
  const middle = (left + right) / 2;
  const top = isAbove ? peak + 2 - (events.length - 1) * LINE : peak + 8;
  return `<path class="arrow" d="${path}"/>${label(events, middle, top)}`;
}

/** Lines of text, the first one on the base line `y`. */
function label(lines: readonly string[], x: number, y: number): string {
  return lines.map((line, index) => `<text x="${x}" y="${y + index * LINE}">${line}</text>`).join('');
}
