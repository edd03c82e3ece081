// Contract: section 5.2.

/** What a key with a scope may do. */
export const SCOPE_USES = {
  'pets:read': 'read animals and categories',
  'pets:write': 'add animals and categories, change and delete animals of the account',
  'pets:manage': 'with pets:write: change and delete animals of all accounts, and categories',
  'store:read': 'read the orders of the account',
  'store:write': 'order animals, complete and cancel orders',
  'events:read': 'read the feed of events',
  'keys:manage': 'list, create, rotate and revoke the keys of the account',
  'webhooks:manage': 'list, add, change, test and delete the webhooks of the account',
} as const;

export type Scope = keyof typeof SCOPE_USES;

export const lacksScope = (scope: Scope) => `This API key lacks the scope ${scope}: use a key that has it.`;

/** Why a new key cannot have these scopes, or undefined if it can. */
export function refuseScopeAlone(scopes: readonly Scope[]): string | undefined {
  return scopes.includes('pets:manage') && !scopes.includes('pets:write')
    ? 'The scope pets:manage needs pets:write: name both.'
    : undefined;
}

/** The scopes that a key can have. */
export const SCOPES = Object.keys(SCOPE_USES) as readonly Scope[];

/** The scopes that a key has unless others are named. */
export const DEFAULT_SCOPES = SCOPES.filter((scope) => !scope.endsWith(':manage'));
