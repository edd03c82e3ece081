// Contract: section 8.4.
import type { Actor } from '../domain/audit.ts';
import { linkAddress } from '../resources/operators/rules.ts';
import type { Store } from '../resources/repositories.ts';
import { requireValue } from '../terminal/command.ts';

/** A link that signs in once. Nothing but the banner may show it. */
export interface FirstLink {
  readonly address: string;
  /** The name of the operator. */
  readonly operator: string;
}

/**
 * Creates a link for the only operator, or for a new one, "admin", if there is none. Undefined if there are several: nobody
 * knows whose link is meant.
 */
export async function createFirstLink(
  { operators }: Pick<Store, 'operators'>,
  actor: Actor,
  consoleUrl: string,
): Promise<FirstLink | undefined> {
  let [operator, ...others] = (await operators.list()).items;
  if (others.length > 0) return undefined;
  if (operator === undefined) {
    const created = await operators.create(actor, 'admin', 'admin');
    // Another instance may create it at this moment.
    operator = requireValue('value' in created ? created : await operators.find('admin'));
  }
  const { secret } = requireValue(await operators.createLink(actor, operator.id));
  return { address: linkAddress(consoleUrl, secret), operator: operator.name };
}
