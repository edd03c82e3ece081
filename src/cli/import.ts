import { statSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { ServiceError } from '../domain/errors.ts';
import type { AccountRepository } from '../resources/accounts/repository.ts';
import { HOUSE } from '../resources/pets/table.ts';
import { MISSING } from '../resources/pets/rules.ts';
import { systemActor } from '../config/system-actor.ts';
import { AuditedRun } from '../resources/audit/audited-run.ts';
import { committedIds, inventedIds, reservedIds } from './category-ids.ts';
import { type ProgramTerminal, systemClock } from './context.ts';
import { adding } from './import/add.ts';
import { addMapping, MAP_SYNTAX, wantedColumns } from './import/mapping.ts';
import { RefusedFile } from './import/refused-file.ts';
import { countNothing, jsonReport, textReport } from './import/report.ts';
import { csvTable, ndjsonTable } from './import/rows.ts';
import { type Input, Run, type Target } from './import/run.ts';
import { ENCODINGS, FORMATS, openSource, type Source, spool } from './import/source.ts';
import { readContents, updating } from './import/update.ts';
import { onSignal } from './signals.ts';
import { findNamed, ownCommand } from '../terminal/command.ts';
import { argument, choice, excluding, flag, option, type Values, withDefault } from '../terminal/takers.ts';
import { Progress } from '../terminal/progress.ts';

const NOTES = `\
The command refuses each row that holds no valid animal, imports the others, and exits with status 3 if it refused rows.
It prints the first 20 refused rows with their lines, and how many rows each reason refused. With --atomic, one refused
row refuses the file, and on SQLite other programs wait with their changes until the import ends. The id column is
ignored. The report names other columns that are not read. Blank rows are skipped. In CSV, an empty cell is no value,
addresses of photos stand between blanks, and tags between semicolons: a tag with a semicolon stands in quotes.

The file may hold commas, semicolons or tabs, a line sep=;, a JSON array, line ends of any kind, UTF-8, UTF-16 or
Windows-1252: the report says what it was taken for. Case and blanks around the name of a column do not count.

--map lists the values of a column with their results, and other values refuse their row. *=RESULT is the result of all
other values, and * keeps them as they are. An empty or missing value is listed as =RESULT. A COLUMN, VALUE or RESULT
with one of : = , in it stands in double quotes, with the quotes in it doubled.

With --update, the column reference finds the animals of the same owner: those that differ are changed, and new ones
added. A column that the file lacks stays as it is, and an empty cell removes the value. While an order of an animal is
open, or after one was completed, its status stays. --missing sold and --missing delete change animals that are not in
the file, but not more than a fifth of them.

--map categoryId=COLUMN takes the names of categories from a column. Case does not count, and the command makes the
categories that are missing. A number in the column is used as an id. With =NAME,* rows without a category get this one.

The export of animals holds the numbers of their categories, and not the categories.`;

const TAKES = {
  file: argument('<file>', 'CSV with a header line, NDJSON or a JSON array; - for standard input'),
  atomic: flag('all or nothing: any refused row refuses the file'),
  dryRun: flag('report what would be imported and refused, and store nothing'),
  format: choice('<format>', 'of the file; by its name and first bytes if not given', FORMATS),
  delimiter: option(
    '<delimiter>',
    'of the fields of CSV: comma, semicolon, tab or one character; by the header if not given',
    readDelimiter,
  ),
  encoding: choice('<encoding>', 'of the text; by what the file holds if not given', ENCODINGS),
  map: withDefault(
    option('<mapping>', `${MAP_SYNTAX}; at most once for each field`, addMapping),
    new Map(),
    'the columns of the names of fields',
  ),
  account: option('<name>', 'the account that gets the animals; by default they belong to the house'),
  update: excluding(
    flag('keep animals in step with the file: its column reference finds those that exist'),
    'atomic',
  ),
  missing: withDefault(
    choice(
      '<what>',
      'with --update: what becomes of animals of the same owner whose reference is not in the file',
      MISSING,
    ),
    'keep',
  ),
  force: flag('let --missing change more than a fifth of the animals'),
  refused: option('<file>', 'keep the refused rows in a new file, as they came'),
};

type ImportOptions = Values<typeof TAKES>;

export const importCommand = ownCommand('import', {
  description: 'add the animals of a file, and report the rows that are refused',
  takes: TAKES,
  notes: NOTES,
  examples: [
    'petstore import animals.csv',
    'petstore import animals.csv --account shelter',
    'petstore import tonight.csv --account shelter --update --missing delete',
    'petstore import shelter.csv --map name=Name --map categoryId=AnimalType',
    `petstore import shelter.csv --map 'categoryId=Kind:=Unknown,*' \\
    --map 'status=Outcome:ADOPTION=sold,"SHELTER, NEUTER, RETURN"=sold,*='`,
    'petstore export | DATABASE_URL=sqlite:copy.db petstore import -',
    `petstore import shelter.csv --dry-run --refused refused.csv --map 'name=Name:=Nameless,*' \\
    --map categoryId=Kind:Dog=1,Cat=2 --map 'status=Outcome:Adoption=sold,*=available'`,
  ],
  run: (options, terminal: ProgramTerminal) => (_, json) => importPets(terminal, options, json),
});

async function importPets(
  terminal: ProgramTerminal,
  options: ImportOptions,
  json: true | undefined,
): Promise<void> {
  if (!options.update && (options.missing !== 'keep' || options.force))
    throw new ServiceError('invalid_parameter', '--missing and --force need --update.');
  const stop = new AbortController();
  const removeHandler = onSignal((name) =>
    stop.abort(new ServiceError('unavailable', `The import was stopped by ${name}.`)),
  );
  const progress = new Progress(terminal.system.stderr, systemClock());
  const report = (json ? jsonReport : textReport)(terminal, progress, options.dryRun ?? false);
  try {
    await importFile(terminal, options, { progress, report, signal: stop.signal });
  } catch (error) {
    // What ended the import before its first row has printed nothing.
    await report.end(countNothing(options.update ?? false)).catch(() => undefined);
    throw error;
  } finally {
    removeHandler();
  }
}

async function importFile(
  terminal: ProgramTerminal,
  options: ImportOptions,
  reporting: Pick<Input, 'progress' | 'report' | 'signal'>,
): Promise<void> {
  const { system, withNewStore, withStoreIfAny, printError } = terminal;
  const { file, update: isUpdate = false, atomic = false, map: mapping, account } = options;
  const { missing: action, force: isForced = false } = options;
  const { signal } = reporting;
  // An update reads the file twice.
  const spooled = isUpdate && !isRegular(file) ? await spool(file, system, signal) : undefined;
  const open = () =>
    spooled === undefined
      ? openSource(file, options, system, signal)
      : openSource('-', options, spooled.open(), signal);
  let refusedFile: RefusedFile | undefined;
  try {
    const table = await openTable(open, options);
    refusedFile = options.refused === undefined ? undefined : new RefusedFile(options.refused, table.header);
    const input = { ...reporting, ...table, mapping, now: systemClock()().unix, refusedFile };
    const importInto = async (target: Target) => {
      if (!isUpdate) return new Run(input, adding(target, atomic)).perform();
      const contents = await readContents(input);
      try {
        const again = { ...input, ...(await openTable(open, options)) };
        await new Run(again, updating(contents, target, { action, isForced, signal })).perform();
      } finally {
        contents.references.close();
      }
    };
    if (options.dryRun)
      await withStoreIfAny(async (store) => {
        const owner = await findNamed(store?.accounts ?? NO_ACCOUNTS, account);
        const ids = inventedIds(store?.categories);
        await importInto({ ids, ownerId: owner?.id ?? HOUSE, pets: store?.pets, actor: systemActor() });
      });
    else
      await withNewStore(async ({ store: { accounts, pets, audit, categories }, actor }) => {
        // First, because a mistyped name adds nothing.
        const owner = await findNamed(accounts, account);
        const audited = new AuditedRun(audit, actor, 'import', { kind: 'pets', name: file }, owner?.id);
        const ids = atomic ? reservedIds(categories) : committedIds(categories, actor, () => audited.start());
        await importInto({ ids, ownerId: owner?.id ?? HOUSE, pets, actor, audited });
      });
  } finally {
    spooled?.close();
    const lack = refusedFile?.close();
    if (lack !== undefined) printError(`petstore: ${lack}`);
  }
}

/** Without a database. */
const NO_ACCOUNTS: Pick<AccountRepository, 'find'> = {
  find: async (name) => ({ error: 'not_found', message: `There is no account ${name}.` }),
};

/** The rows of a file, with what the report says of them so far. */
async function openTable(open: () => Promise<Source>, options: ImportOptions) {
  const source = await open();
  const wanted = wantedColumns(options.map, options.update);
  const readAgain = isRegular(options.file) || options.update ? async () => (await open()).lines : undefined;
  const table =
    source.format === 'csv'
      ? await csvTable(source.lines, wanted, options.delimiter)
      : await ndjsonTable(source.lines, wanted, readAgain);
  const describe = () => ({
    readAs: {
      ...source.describe(),
      ...(table.delimiter !== undefined && { delimiter: table.delimiter }),
      blankRows: table.blankRows(),
    },
    ...(table.unread().length > 0 && { notRead: table.unread() }),
  });
  return { header: table.header, rows: table.rows, describe };
}

function isRegular(file: string): boolean {
  return file !== '-' && statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

const DELIMITER_NAMES: Readonly<Record<string, string>> = { comma: ',', semicolon: ';', tab: '\t' };

function readDelimiter(text: string): string {
  const delimiter = DELIMITER_NAMES[text] ?? text;
  if (delimiter.length !== 1 || /["\r\n]/.test(delimiter))
    throw new InvalidArgumentError(
      'It must be comma, semicolon, tab or one character, and no quote or line end.',
    );
  return delimiter;
}
