import { parseExactJson } from '../../json.ts';
import type { Line } from './lines.ts';
import type { Row } from './row.ts';

/** One JSON object a line; blank lines are passed over. */
export async function* ndjsonRows(lines: AsyncIterable<Line>): AsyncGenerator<Row> {
  for await (const line of lines) if (line.fault !== undefined || line.text.trim() !== '') yield rowOf(line);
}

function rowOf({ number, text, fault }: Line): Row {
  if (fault !== undefined) return { line: number, fault };
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (error) {
    const reason =
      error instanceof RangeError ? 'the line is nested too deeply.' : 'the line is not valid JSON.';
    return { line: number, fault: reason };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { line: number, fault: 'the line holds no JSON object.' };
  }
  const columns = value as Record<string, unknown>;
  return { line: number, value: (column) => columns[column], textOnly: false };
}
