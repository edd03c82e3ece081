import { ServiceError } from '../../domain/errors.ts';
import { nearest } from '../../domain/nearest.ts';
import { cutText, foldedName } from '../../domain/text.ts';

/** A column that an import looks for. */
export interface WantedColumn {
  readonly name: string;
  /** Whether `--map` names it. */
  readonly isMapped: boolean;
  readonly isNeeded: boolean;
}

/** Characters without a width, which no screen shows. */
const INVISIBLE = /[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\0]/g;

/** Names that are remembered. NDJSON may have others in every row. */
const FOLDED_MAX = 1_000;

const folded = new Map<string, string>();

/** What is compared of a name: blanks of every kind count as one space, and case does not count. */
function fold(name: string): string {
  const known = folded.get(name);
  if (known !== undefined) return known;
  const text = foldedName(name.replaceAll(INVISIBLE, '').replaceAll(/\s+/g, ' ').trim());
  if (folded.size < FOLDED_MAX) folded.set(name, text);
  return text;
}

export function isBlank(text: string): boolean {
  return text.replaceAll(INVISIBLE, '').trim() === '';
}

/**
 * The index of a column, or -1. A column that `--map` names to the letter is found beside others like it.
 * @throws ServiceError `invalid_request` when more than one could be meant.
 */
export function findColumn({ name, isMapped }: WantedColumn, names: readonly string[]): number {
  const at = names.indexOf(name);
  if (isMapped && at !== -1 && names.lastIndexOf(name) === at) return at;
  const wanted = fold(name);
  const near = names.flatMap((each, index) => (fold(each) === wanted ? [index] : []));
  if (near.length > 1) {
    const like = [...new Set(near.map((index) => JSON.stringify(names[index])))];
    const which = like.length > 1 ? `: ${like.join(', ')}. --map chooses columns` : '';
    throw new ServiceError('invalid_request', `The file has more than one column ${name}${which}.`);
  }
  return near[0] ?? -1;
}

export function noColumn(
  name: string,
  names: readonly string[],
  cure = '--map chooses columns',
): ServiceError {
  const near = nearest(name, names);
  const question = near === undefined ? '.' : `; did you mean ${near}?`;
  return new ServiceError(
    'invalid_request',
    `The file has no column ${name}${question} It has ${names.join(', ')}. ${cure}.`,
  );
}

/** The service assigns ids, and exports hold them. */
const IGNORED = 'id';

/** Names that a report shows. */
const UNREAD_MAX = 100;

/** Characters of one of them. */
const UNREAD_LENGTH = 80;

/** A column of the file that no field comes from. `near` is the wanted column most like it that the file lacks. */
export interface UnreadColumn {
  readonly column: string;
  readonly near: string | undefined;
}

/** The columns of a file that are not read, the first ones of many. */
export class UnreadColumns {
  readonly #names = new Set<string>();
  readonly #wanted: readonly string[];
  readonly #missing: Set<string>;

  constructor(wanted: readonly WantedColumn[]) {
    this.#wanted = wanted.map(({ name }) => name);
    this.#missing = new Set(this.#wanted);
  }

  /** Takes the columns of a header or of a row. `indexes` are those of the wanted columns, or -1. */
  add(names: readonly string[], indexes: ReadonlyMap<string, number>): void {
    for (const [column, at] of indexes) if (at !== -1) this.#missing.delete(column);
    const read = new Set(indexes.values());
    for (const [at, name] of names.entries()) {
      if (this.#names.size === UNREAD_MAX) return;
      if (name !== IGNORED && !read.has(at) && !this.#names.has(name) && !isBlank(name))
        this.#names.add(cutText(name, UNREAD_LENGTH));
    }
  }

  list(): readonly UnreadColumn[] {
    const names = [...this.#names];
    return names.map((column) => {
      const near = nearest(column, this.#wanted);
      const isMeant = near !== undefined && this.#missing.has(near) && nearest(near, names) === column;
      return { column, near: isMeant ? near : undefined };
    });
  }
}
