// Contract: section 10.2.
import { mapPage } from '../../domain/page.ts';
import { mapResult } from '../../domain/result.ts';
import type { Operator } from '../../domain/operator.ts';
import { rowFilter, rowId } from '../../http/parameters.ts';
import { act, change, create, list, type OperatorResource, remove } from '../../http/operation.ts';
import type { Ceremonies } from './ceremonies.ts';
import type { PasskeyRepository } from './repository.ts';
import { toPasskey, mayChange, MOST_PASSKEYS } from './rules.ts';
import { NewPasskey, Passkey, PasskeyChallenge, PasskeyPatch } from './schema.ts';

interface Uses {
  readonly passkeys: PasskeyRepository;
  readonly ceremonies: Ceremonies;
}

const passkeyId = rowId('Number of the passkey.');
const NO_PASSKEY = 'There is no passkey with this number.';
const NEEDS_SESSION = 'A program has no passkey: add it in a browser that is signed in.';
const OTHERS = 'This is a passkey of another operator: ask an operator with the role admin.';
const NO_ADDRESS = 'The host of the console is an IP address, which can have no passkeys.';

const listPasskeys = list(Passkey, 'passkeys', {
  id: 'listPasskeys',
  path: '/passkeys',
  role: 'viewer',
  description: 'Returns a page of the passkeys of all operators or of one, the oldest first.',
  parameters: { operatorId: rowFilter('Only passkeys of this operator.', 2) },
  handle: async ({ parameters }, { passkeys }: Uses) => mapPage(await passkeys.list(parameters), toPasskey),
});

const beginPasskey = act(PasskeyChallenge, {
  id: 'beginPasskey',
  path: '/passkeys/challenge',
  role: 'viewer',
  summary: 'Begin to add a passkey',
  description:
    'Returns what a browser needs to make a passkey for the calling operator. It needs a session: a token gets 403.',
  noStore: true,
  errors: {
    insufficient_scope: NEEDS_SESSION,
    invalid_request: NO_ADDRESS,
    conflict: 'The operator has too many passkeys.',
  },
  async handle({ operator, origin }, { ceremonies }: Uses) {
    return origin === undefined
      ? { error: 'insufficient_scope', message: NEEDS_SESSION }
      : ceremonies.beginAdding(operator, origin);
  },
});

const createPasskey = create(NewPasskey, Passkey, {
  id: 'createPasskey',
  path: '/passkeys',
  role: 'viewer',
  summary: 'Add a passkey',
  description:
    'Adds the passkey that a browser made for the calling operator, after it has checked the answer to the challenge. ' +
    `An operator has at most ${MOST_PASSKEYS}. It needs a session: a token gets 403.`,
  errors: {
    insufficient_scope: NEEDS_SESSION,
    unauthorized: 'The operator was removed meanwhile.',
    conflict: 'The passkey was added already, or the operator has too many.',
  },
  async handle({ body: { name, credential }, operator, origin, actor }, { ceremonies }: Uses) {
    if (origin === undefined) return { error: 'insufficient_scope', message: NEEDS_SESSION };
    return mapResult(await ceremonies.add(actor, operator, name, credential, origin), toPasskey);
  },
});

const renamePasskey = change(PasskeyPatch, Passkey, {
  id: 'renamePasskey',
  path: '/passkeys/{passkeyId}',
  role: 'viewer',
  summary: 'Rename a passkey',
  description: 'Gives a passkey another name. Only an admin renames those of others.',
  parameters: { passkeyId },
  errors: { not_found: NO_PASSKEY, insufficient_scope: OTHERS },
  async handle({ body, parameters, operator, actor }, { passkeys }: Uses) {
    const refused = await refuseChange(passkeys, operator, parameters.passkeyId);
    return refused ?? mapResult(await passkeys.rename(actor, parameters.passkeyId, body.name), toPasskey);
  },
});

const removePasskey = remove({
  id: 'removePasskey',
  path: '/passkeys/{passkeyId}',
  role: 'viewer',
  summary: 'Remove a passkey',
  description:
    'Removes a passkey, and ends the sessions that began with it at once on every instance. Only an admin removes those of others.',
  parameters: { passkeyId },
  answer: 'The passkey no longer signs in.',
  errors: { not_found: NO_PASSKEY, insufficient_scope: OTHERS },
  async handle({ parameters, operator, actor }, { passkeys }: Uses) {
    const refused = await refuseChange(passkeys, operator, parameters.passkeyId);
    if (refused !== undefined) return refused;
    return mapResult(await passkeys.remove(actor, parameters.passkeyId), () => undefined);
  },
});

/** A passkey never gets another operator, so nothing can change between this check and the write. */
async function refuseChange(passkeys: PasskeyRepository, operator: Operator, id: number) {
  const found = await passkeys.get(id);
  if ('error' in found) return found;
  return mayChange(operator, found.value)
    ? undefined
    : ({ error: 'insufficient_scope', message: OTHERS } as const);
}

export const OPERATORS: OperatorResource<Uses> = {
  name: 'Passkeys',
  description: 'Passkeys, with which operators sign in to the console.',
  uses: { passkeys: true, ceremonies: true },
  operations: [listPasskeys, beginPasskey, createPasskey, renamePasskey, removePasskey],
};
