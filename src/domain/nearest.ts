/** The candidate that is most like `word`, ignoring case. Undefined when half of the characters or more would change. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const near = candidates
    .map((candidate) => ({ candidate, edits: editsBetween(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits < Math.max(word.length, candidate.length) / 2)
    .toSorted((one, other) => one.edits - other.edits);
  return near[0]?.candidate;
}

/** The end of a message about a word that nothing has: it asks for the candidate that is probably meant, if there is one. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : ` Did you mean ${near}?`;
}

/**
 * How many characters must be added, removed or changed to turn one text into the other. Two neighbours that change places
 * count once.
 */
export function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  let before: readonly number[] = [];
  for (let at = 0; at < from.length; at++) {
    const next = [at + 1];
    for (let index = 1; index <= to.length; index++) {
      const changed = (row[index - 1] ?? 0) + (from[at] === to[index - 1] ? 0 : 1);
      const swapped =
        from[at] === to[index - 2] && from[at - 1] === to[index - 1]
          ? (before[index - 2] ?? at) + 1
          : Infinity;
      next.push(Math.min(changed, swapped, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
}
