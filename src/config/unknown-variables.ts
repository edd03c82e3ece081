// Contract: section 7.
import { editsBetween, nearest } from '../domain/nearest.ts';

const PREFIX = 'PETSTORE_';

const ENVIRONMENT = 'PETSTORE_ENVIRONMENT';

/** The client, code samples and examples read these, so a shell may have them. */
const OF_CLIENTS = ['PETSTORE_API_KEY', 'PETSTORE_URL'];

/** Kubernetes and Docker set these for a service that is called "petstore". */
const OF_LINKS = /_SERVICE_HOST$|_PORT(?:_|$)|^PETSTORE_NAME$|^PETSTORE_ENV_/;

/** The letters of a shorter name may be those of a common word: POST and SORT are near PORT. */
const LONG_NAME = 8;

/**
 * Issues and warnings about names that begin with PETSTORE_, or nearly are PETSTORE_ENVIRONMENT. An issue must stop the start: without
 * PETSTORE_ENVIRONMENT, a service for staging would run as production. A warning names a variable without effect.
 */
export function unknownVariables(names: readonly string[], known: readonly string[]) {
  const issues: string[] = [];
  const warnings: string[] = [];
  const unknown = names.filter(
    (name) =>
      (name.toUpperCase().startsWith(PREFIX) || isMistyped(name.toUpperCase(), ENVIRONMENT)) &&
      ![...known, ...OF_CLIENTS].includes(name) &&
      !OF_LINKS.test(name),
  );
  for (const name of unknown) {
    const near = meant(name.slice(PREFIX.length), known);
    const isIssue = near === ENVIRONMENT && !names.includes(near);
    const hint = near === undefined ? 'remove it.' : `did you mean ${near}?`;
    if (isIssue) issues.push(`${name} is not a variable of the service: ${hint}`);
    else warnings.push(`${name} is not a variable of the service and has no effect: ${hint}`);
  }
  return { issues, warnings };
}

/** The variable that is most like `rest`, a name without the prefix. */
function meant(rest: string, known: readonly string[]): string | undefined {
  if (/^env/i.test(rest)) return ENVIRONMENT;
  const byRest = new Map(known.map((name) => [name.replace(PREFIX, ''), name]));
  return byRest.get(nearest(rest, [...byRest.keys()]) ?? '');
}

/**
 * A warning for each name without the prefix that is a mistyped one of `known`. Every process has many variables of other
 * programs, so a warning needs more than a similar name: the right variable is not set, and `accepts` the value.
 */
export function mistypedVariables(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
  accepts: (variable: string, value: string) => boolean,
): readonly string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (value === '' || known.includes(name) || name.toUpperCase().startsWith(PREFIX)) return [];
    const near = known.find((variable) => !env[variable] && isMistyped(name.toUpperCase(), variable));
    return near !== undefined && accepts(near, value)
      ? `${name} is not a variable of the service and has no effect: did you mean ${near}?`
      : [];
  });
}

/** At most two edits. In a short name, only two neighbours that changed places. */
function isMistyped(name: string, variable: string): boolean {
  const edits = editsBetween(name, variable);
  if (variable.length >= LONG_NAME) return edits <= 2;
  const sorted = (text: string) => text.split('').toSorted().join('');
  return edits <= 1 && sorted(name) === sorted(variable);
}
