// Contract: section 8.4.
import { styleText } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { localAddress } from '../config/addresses.ts';
import { maskUrl } from '../config/mask-url.ts';
import { readConfig } from '../app/config.ts';
import type { Environment } from '../domain/api-key.ts';
import type { Category } from '../resources/categories/schema.ts';
import type { FirstKey } from './first-key.ts';
import type { FirstLink } from './first-link.ts';

/** What a started service tells the person at its terminal. */
export interface Banner {
  readonly environment: Environment;
  /** DATABASE_URL, which can hold a password. */
  readonly databaseUrl: string;
  /** Where it listens, without a path. */
  readonly url: string;
  /** Where browsers find the console; undefined without one. */
  readonly consoleUrl: string | undefined;
  /** Undefined without the listener for Prometheus. */
  readonly metricsUrl: string | undefined;
  /** Undefined unless this start made it. */
  readonly link?: FirstLink | undefined;
  readonly firstKey?: FirstKey | undefined;
  /** An account that has keys already. */
  readonly account?: string | undefined;
  /** A category that exists already. */
  readonly category?: Category | undefined;
  readonly hasColors: boolean;
}

/** A line of the banner, with lines that explain it. */
type Row = readonly [label: string, value: string, note?: string];

const LABEL_WIDTH = 11;

export function bannerText(banner: Banner): string {
  const { environment, hasColors } = banner;
  const style = (format: 'bold' | 'dim', text: string) =>
    hasColors ? styleText(format, text, { validateStream: false }) : text;
  const rows = addressRows(banner)
    .map(([label, value, note]) => {
      const line = `  ${style('dim', label.padEnd(LABEL_WIDTH))}${value}`;
      return note === undefined ? line : `${line}\n  ${' '.repeat(LABEL_WIDTH)}${style('dim', note)}`;
    })
    .join('\n');
  return `
  ${style('bold', `Pet Store ${manifest.version}`)} ${style('dim', `(${environment})`)}

${rows}
${tryText(banner)}
`;
}

function addressRows(banner: Banner): readonly Row[] {
  const { url, consoleUrl, metricsUrl, link, firstKey, account } = banner;
  const local = localAddress(url);
  const rows: Row[] = [
    ['API', `${local}/v1`],
    ['Reference', `${local}/reference`],
    ['Dashboard', `${local}/dashboard`],
  ];
  if (consoleUrl !== undefined) {
    const command = commandLine(banner, 'console');
    const [value, note] =
      link === undefined
        ? [consoleUrl, `Sign in with a link: ${command} --as NAME`]
        : [link.address, `As "${link.operator}", once within 10 minutes. Another link: ${command}`];
    rows.push(['Console', value, note]);
  }
  if (metricsUrl !== undefined) rows.push(['Metrics', localAddress(metricsUrl)]);
  if (firstKey !== undefined)
    rows.push([
      'Key',
      firstKey.key.reveal(),
      `Account "${firstKey.account.name}" (plan ${firstKey.account.plan}), every scope. It is shown only once.`,
    ]);
  else if (account !== undefined)
    rows.push([
      'Keys',
      commandLine(banner, 'keys list'),
      `Make another one: ${commandLine(banner, `keys create --account ${shellWord(account)}`)}`,
    ]);
  return rows;
}

/** A command for this service, also in a shell without its variables. It shows no password. */
function commandLine({ databaseUrl, environment, consoleUrl }: Banner, command: string): string {
  const usual = readConfig({});
  const variables = [
    ['DATABASE_URL', maskUrl(databaseUrl), maskUrl(usual.databaseUrl)],
    ['PETSTORE_ENVIRONMENT', environment, usual.environment],
    // A link holds a secret, which must not go to another port.
    ['CONSOLE_URL', command === 'console' ? consoleUrl : undefined, usual.consoleUrl],
  ] as const;
  const needed = variables.flatMap(([name, value, other]) =>
    value === undefined || value === other ? [] : [`${name}=${shellWord(value)} `],
  );
  return `${needed.join('')}npx petstore ${command}`;
}

/** The lines work as printed, in any POSIX shell. */
function tryText(banner: Banner): string {
  const { url, firstKey, category } = banner;
  if (firstKey === undefined) return '';
  const post = (path: string, body: string) =>
    `curl -w '\\n' "$PETSTORE_URL${path}" -H "$auth" -H "$json" \\\n    -d '${body}'`;
  // The first id of an empty table.
  const { id } = category ?? { id: 1 };
  const lines = [
    ...(category === undefined ? [post('/categories', '{"name":"Dogs"}')] : []),
    post('/pets', `{"name":"Rex","categoryId":${id},"status":"available"}`),
    `curl -w '\\n' "$PETSTORE_URL/pets" -H "$auth"`,
  ];
  return `
  Try it in another terminal:

  export PETSTORE_URL=${localAddress(url)}/v1
  export PETSTORE_API_KEY=${firstKey.key.reveal()}

  auth="Authorization: Bearer $PETSTORE_API_KEY"
  json='Content-Type: application/json'
  ${lines.join('\n  ')}

  Add invented animals: ${commandLine(banner, 'seed 1000')}
`;
}

/** The text as one word of a shell, in quotes if it needs them. */
function shellWord(text: string): string {
  return /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
