import { EQUAL, type EqualMutant, findEqual } from './equal.ts';
import { GROUPS } from './groups.ts';
import type { Mutant } from './instrument.ts';
import type { Outcome, Results } from './results.ts';

/** The least share of mutants that tests must kill. */
const GOAL = 0.85;

const STATUSES = ['killed', 'timed out', 'survived', 'not reached', 'equal'] as const;

/** `isGood`: the goal is reached, no mutant of a settled group survives, and none that is called equal is gone. */
export function report(
  mutants: readonly Mutant[],
  results: Results,
  date: string,
): { readonly text: string; readonly gone: readonly EqualMutant[]; readonly isGood: boolean } {
  const groups = GROUPS.map((group) => {
    const outcomes = mutants
      .filter((mutant) => mutant.group === group.name)
      .map((mutant) => ({ mutant, status: results.find(mutant)?.status }));
    return { group, outcomes, counts: countStatuses(outcomes) };
  });
  const all = countStatuses(groups.flatMap(({ outcomes }) => outcomes));
  const rows = groups.map(({ group, outcomes, counts }) => toRow(group.name, outcomes.length, counts));
  const survivors = groups.map(({ group, outcomes }) => ({
    group,
    left: outcomes.filter(({ status }) => status === 'survived' || status === 'not reached'),
  }));
  const text = [
    HEAD,
    `Of ${date}. *Dead* is the share of those that were tried and are not equal. A survivor that a newer test kills stays here until it is tried again.`,
    '',
    '| What | Mutants | Tried | Killed | Timed out | Survived | Not reached | Equal | Dead |',
    '| --- | --: | --: | --: | --: | --: | --: | --: | --: |',
    ...rows,
    toRow('All', mutants.length, all),
    '',
    '## Equal',
    '',
    'No test can notice these mutants, or none should.',
    '',
    ...listByFile(
      EQUAL,
      ({ original, replacement, because }) => `${change(original, replacement)}: ${because}`,
    ),
    ...survivors.flatMap(({ group, left }) =>
      left.length === 0
        ? []
        : [
            `## Survivors: ${group.name}`,
            '',
            ...listByFile(
              left.map(({ mutant, status }) => ({ ...mutant, status })),
              ({ line, original, replacement, status }) =>
                `${line}: ${change(original, replacement)}${status === 'not reached' ? ', which no test reaches' : ''}`,
            ),
          ],
    ),
  ].join('\n');
  const isSettled = survivors.every(({ group, left }) => !group.settled || left.length === 0);
  const equal = new Set(mutants.map(findEqual));
  const gone = EQUAL.filter((each) => !equal.has(each));
  return {
    text: `${text.trimEnd()}\n`,
    gone,
    isGood: isSettled && gone.length === 0 && shareOfDead(all) >= GOAL,
  };
}

type Status = Outcome['status'];
type Counts = Readonly<Record<Status, number>>;

function countStatuses(outcomes: readonly { readonly status: Status | undefined }[]): Counts {
  const counts = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<Status, number>;
  for (const { status } of outcomes) if (status !== undefined) counts[status]++;
  return counts;
}

function shareOfDead(counts: Counts): number {
  const dead = counts.killed + counts['timed out'];
  return dead / Math.max(1, dead + counts.survived + counts['not reached']);
}

function toRow(name: string, total: number, counts: Counts): string {
  const cells = STATUSES.map((status) => counts[status]);
  const tried = cells.reduce((sum, count) => sum + count, 0);
  const share = tried === 0 ? '–' : `${(100 * shareOfDead(counts)).toFixed(1)} %`;
  return `| ${[name, total, tried, ...cells, share].join(' | ')} |`;
}

function listByFile<Item extends { readonly file: string }>(
  items: readonly Item[],
  describe: (item: Item) => string,
): string[] {
  const byFile = Map.groupBy(items, ({ file }) => file);
  return [...byFile].flatMap(([file, ofFile]) =>
    [`\`${file}\`:`, ''].concat(
      ofFile.map((item) => `- ${describe(item)}`),
      '',
    ),
  );
}

function change(original: string, replacement: string): string {
  return `${code(original)} → ${code(replacement)}`;
}

/** One line of code, short enough to recognize it, without what reads as a link. */
function code(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('](', '] (');
  const short = line.length > 80 ? `${line.slice(0, 79)}…` : line;
  const fence = short.includes('`') ? '``' : '`';
  return short.includes('`') ? `${fence} ${short} ${fence}` : `${fence}${short}${fence}`;
}

const HEAD = `# Mutants

\`npm run mutants\` writes this page. It changes the source in one place after the other, and runs the tests that reach the
place. A test that fails kills the mutant; a mutant that survives shows a line whose promise no test holds.

## How it works

Constraint: a run of all tests takes minutes, and there are thousands of mutants. Tests run TypeScript as it is, and a
write of SQLite runs on a thread.

Rule: Stryker's instrumenter puts all mutants of a file into one copy of it. A hook of Node.js loads the copy instead of the
file, also in threads and programs that a test starts, and turns one mutant on. Each test file ran once before, to
note which mutants it reaches. A mutant meets only these, in one process: the quick ones and those of its layer first, until one
fails or until those that it outlived take as long as \`--budget\` says; one that hangs is ended and counts as timed
out. Before that, the quick tests run for all mutants of a group in one process, which counts only if they still pass at its end
without a mutant. What is decided while a file loads takes no part in this. Ten
mutants made by hand must die first: they show that the program notices. Results are kept in \`node_modules/.cache\`, so a
run that was ended goes on. \`npm run mutants -- src/domain/csv.ts\` tries one file, \`--every 20\` each twentieth mutant
of what is not settled one by one, \`--tests\` names the test files that take part, and \`--report\` only writes the page.

Rejected: Stryker's own runner. It starts all tests for each mutant, or does not see what a thread reaches. Its
packages would be more than those of the service; the instrumenter is installed only for this command.

Limit: no browser, killed process or lost server takes part, so mutants live that only the tests in \`test/e2e/\`,
\`test/faults/\` and \`test/browser/\` would kill.

## Result
`;
