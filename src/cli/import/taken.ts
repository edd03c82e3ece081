import { TextList } from '../../storage/sqlite/text-list.ts';
import { findLine, type ReadRow } from './run.ts';

/** Which of these references the owner has already. */
type FindReferences = (references: readonly string[]) => Promise<ReadonlySet<string>>;

/** Rows that are looked up at once, and the characters after which fewer are. */
const ROWS_AT_ONCE = 1_000;
const LENGTH_AT_ONCE = 1024 * 1024;

const TAKEN = 'an animal of the same owner has this reference already.';

/** Gives all rows, without the animals whose reference is taken: by the owner, or by a row above. */
export async function* refuseTaken(
  rows: AsyncIterable<ReadRow>,
  findReferences: FindReferences,
): AsyncGenerator<ReadRow> {
  const above = new TextList();
  let waiting: ReadRow[] = [];
  let length = 0;
  const findIssue = (reference: string, { lines }: ReadRow, taken: ReadonlySet<string>) => {
    const line = above.find(reference);
    if (line !== undefined) return `the row in line ${line} has this reference already.`;
    if (taken.has(reference)) return TAKEN;
    above.add(reference, findLine(lines));
    return undefined;
  };
  async function* look(): AsyncGenerator<ReadRow> {
    const references = waiting.flatMap((row) => referenceIn(row) ?? []);
    const taken: ReadonlySet<string> = references.length === 0 ? new Set() : await findReferences(references);
    for (const row of waiting) {
      const reference = referenceIn(row);
      const issue = reference === undefined ? undefined : findIssue(reference, row, taken);
      yield issue === undefined ? row : { ...row, read: { issues: [issue] } };
    }
    waiting = [];
    length = 0;
  }
  try {
    for await (const row of rows) {
      // Without references, no row waits for others.
      if (waiting.length === 0 && referenceIn(row) === undefined) {
        yield row;
        continue;
      }
      waiting.push(row);
      for (const { text } of row.lines) length += text.length;
      if (waiting.length === ROWS_AT_ONCE || length > LENGTH_AT_ONCE) yield* look();
    }
    yield* look();
  } finally {
    above.close();
  }
}

function referenceIn({ read }: ReadRow): string | undefined {
  return 'pet' in read ? read.pet.reference : undefined;
}
