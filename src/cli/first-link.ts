// Contract: section 8.
import type { Actor } from '../domain/audit.ts';
import { linkAddress } from '../resources/operators/rules.ts';
import type { Store } from '../resources/repositories.ts';
import { requireValue } from '../terminal/command.ts';

/**
 * The text with a sign-in link that a started service prints on standard error, and nowhere else. Creates the operator
 * "admin" if there is none.
 */
export async function firstLinkText(
  { operators }: Pick<Store, 'operators'>,
  actor: Actor,
  consoleUrl: string,
): Promise<string> {
  let [operator, ...others] = (await operators.list()).items;
  if (others.length > 0)
    return `Sign in to the console at ${consoleUrl} with a link: npx petstore console --as NAME\n\n`;
  if (operator === undefined) {
    const created = await operators.create(actor, 'admin', 'admin');
    // Another instance may create it at this moment.
    operator = requireValue('value' in created ? created : await operators.find('admin'));
  }
  const { secret } = requireValue(await operators.createLink(actor, operator.id));
  return `Sign in to the console as "${operator.name}", once within 10 minutes ("npx petstore console" makes another link):

  ${linkAddress(consoleUrl, secret)}

`;
}
