// Contract: section 8.
import { randomBytes } from 'node:crypto';
import type { Actor } from '../domain/audit.ts';
import type { Operator } from '../domain/operator.ts';
import { existingOperator, linkAddress, makeLink } from '../management/operators.ts';
import type { Store } from '../resources/repositories.ts';

/**
 * The text with a sign-in link that a started service prints on standard error, and nowhere else. Creates the operator
 * "admin" if there is none.
 */
export async function firstLinkText(
  { operators }: Pick<Store, 'operators'>,
  actor: Actor,
  consoleUrl: string,
): Promise<string> {
  const [only, ...others] = await operators.list();
  if (others.length > 0)
    return `Sign in to the console at ${consoleUrl} with a link: npx petstore console --as NAME\n\n`;
  const operator = only ?? (await firstOperator(operators, actor));
  const { secret } = await makeLink(operators, actor, randomBytes, operator);
  return `Sign in to the console as "${operator.name}", once within 10 minutes ("npx petstore console" makes another link):

  ${linkAddress(consoleUrl, secret)}

`;
}

async function firstOperator(operators: Store['operators'], actor: Actor): Promise<Operator> {
  const added = await operators.add(actor, 'admin', 'admin');
  // Another instance may create it at this moment.
  return 'value' in added ? added.value : existingOperator(operators, 'admin');
}
