// Contract: section 7.
import { nearest } from '../domain/nearest.ts';

const PREFIX = 'PETSTORE_';

/** The client, code samples and examples read these, so a shell may have them. */
const OF_CLIENTS = ['PETSTORE_API_KEY', 'PETSTORE_URL'];

/** Kubernetes and Docker set these for a service that is called "petstore". */
const OF_LINKS = /_SERVICE_HOST$|_PORT(?:_|$)|^PETSTORE_NAME$|^PETSTORE_ENV_/;

/**
 * Faults and warnings about names that begin with PETSTORE_. A fault must stop the start: without
 * PETSTORE_ENVIRONMENT, a service for staging would run as production. A warning names a variable without effect.
 */
export function unknownVariables(names: readonly string[], known: readonly string[]) {
  const faults: string[] = [];
  const warnings: string[] = [];
  const unknown = names.filter(
    (name) =>
      name.toUpperCase().startsWith(PREFIX) &&
      ![...known, ...OF_CLIENTS].includes(name) &&
      !OF_LINKS.test(name),
  );
  for (const name of unknown) {
    const near = meant(name.slice(PREFIX.length), known);
    const isFault = near === 'PETSTORE_ENVIRONMENT' && !names.includes(near);
    const hint = near === undefined ? 'remove it.' : `did you mean ${near}?`;
    if (isFault) faults.push(`${name} is not a variable of the service: ${hint}`);
    else warnings.push(`${name} is not a variable of the service and has no effect: ${hint}`);
  }
  return { faults, warnings };
}

/** The variable that is most like `rest`, a name without the prefix. */
function meant(rest: string, known: readonly string[]): string | undefined {
  if (/^env/i.test(rest)) return 'PETSTORE_ENVIRONMENT';
  const byRest = new Map(known.map((name) => [name.replace(PREFIX, ''), name]));
  return byRest.get(nearest(rest, [...byRest.keys()]) ?? '');
}
