// Contract: section 10.2.
import manifest from '../../../package.json' with { type: 'json' };
import { rowId } from '../../http/parameters.ts';
import { textFromInstant, textIfInstant } from '../../domain/instant.ts';
import { mapPage } from '../../domain/page.ts';
import { mapResult } from '../../domain/result.ts';
import type { Environment } from '../../domain/api-key.ts';
import { act, create, list, type OperatorResource, read, remove } from '../../http/operation.ts';
import type { OperatorRepository } from './repository.ts';
import { toOperator, linkAddress, type OperatorToken } from './rules.ts';
import { IssuedToken, Me, NewOperator, NewToken, Operator, SignInLink, Token } from './schema.ts';

interface Uses {
  readonly operators: OperatorRepository;
  /** The address of the console, without a path. */
  readonly address: () => string;
}

const operatorId = rowId('Number of the operator.');
const NO_OPERATOR = 'There is no operator with this number.';

const listOperators = list(Operator, 'operators', {
  id: 'listOperators',
  path: '/operators',
  role: 'viewer',
  description: 'Returns a page of the operators, the oldest first.',
  handle: async ({ parameters }, { operators }: Uses) =>
    mapPage(await operators.list(parameters), toOperator),
});

const createOperator = create(NewOperator, Operator, {
  id: 'createOperator',
  path: '/operators',
  role: 'admin',
  summary: 'Add an operator',
  description:
    'Adds an operator. A role cannot be changed: remove the operator, and add it again with the other role.',
  errors: { conflict: 'Another operator has this name, ignoring case: choose another name.' },
  handle: async ({ body: { name, role }, actor }, { operators }: Uses) =>
    mapResult(await operators.create(actor, name, role), toOperator),
});

const removeOperator = remove({
  id: 'removeOperator',
  path: '/operators/{operatorId}',
  role: 'admin',
  summary: 'Remove an operator',
  description: 'Removes an operator, and ends all its links, sessions and tokens at once on every instance.',
  parameters: { operatorId },
  answer: 'The operator is removed.',
  errors: { not_found: NO_OPERATOR },
  handle: ({ parameters, actor }, { operators }: Uses) => operators.remove(actor, parameters.operatorId),
});

const createLink = act(SignInLink, {
  status: 201,
  id: 'createLink',
  path: '/operators/{operatorId}/links',
  role: 'admin',
  summary: 'Make a sign-in link',
  description: 'Makes a link that signs the operator in once, within 10 minutes. Only this answer shows it.',
  parameters: { operatorId },
  errors: { not_found: NO_OPERATOR },
  async handle({ parameters, actor }, { operators, address }: Uses) {
    const created = await operators.createLink(actor, parameters.operatorId);
    return mapResult(created, ({ secret, expiresAt }) => ({
      link: linkAddress(address(), secret),
      expiresAt: textFromInstant(expiresAt),
    }));
  },
});

const listTokens = list(Token, 'records', {
  id: 'listTokens',
  path: '/tokens',
  role: 'admin',
  summary: 'List tokens',
  description:
    'Returns a page of the records of the tokens in force, of all operators, oldest first. It never shows the tokens.',
  handle: async ({ parameters }, { operators }: Uses) =>
    mapPage(await operators.listTokens(parameters), toToken),
});

const createToken = create(NewToken, IssuedToken, {
  id: 'createToken',
  path: '/operators/{operatorId}/tokens',
  role: 'admin',
  summary: 'Create a token',
  description: 'Creates a token, which lets a program act as the operator. Only this answer shows it.',
  parameters: { operatorId },
  errors: { not_found: NO_OPERATOR },
  async handle({ body: { expiresAt }, parameters, actor }, { operators }: Uses) {
    const created = await operators.createToken(actor, parameters.operatorId, expiresAt);
    return mapResult(created, ({ token, record }) => ({ ...toToken(record), token: token.reveal() }));
  },
});

const revokeToken = remove({
  id: 'revokeToken',
  path: '/tokens/{tokenId}',
  role: 'admin',
  summary: 'Revoke a token',
  description: 'Ends a token at once on every instance.',
  parameters: { tokenId: rowId('Number of the token.') },
  answer: 'The token no longer works.',
  errors: { not_found: 'There is no token with this number.' },
  handle: ({ parameters, actor }, { operators }: Uses) => operators.revokeToken(actor, parameters.tokenId),
});

function toToken({ createdAt, expiresAt, ...token }: OperatorToken) {
  return { ...token, createdAt: textFromInstant(createdAt), expiresAt: textIfInstant(expiresAt) };
}

interface MeUses {
  readonly environment: Environment;
}

const getMe = read(Me, {
  id: 'getMe',
  path: '/me',
  role: 'viewer',
  summary: 'Who am I',
  description:
    'Returns the operator of the session or token, and the environment and version of the service.',
  async handle({ operator: { id, name, role } }, { environment }: MeUses) {
    return { value: { id, name, role, environment, version: manifest.version } };
  },
});

const ME: OperatorResource<MeUses> = {
  name: 'Me',
  description: 'The calling operator.',
  uses: { environment: true },
  operations: [getMe],
};

const ALL: OperatorResource<Uses> = {
  name: 'Operators',
  description: 'The people who run the service and their programs, with the tokens of the programs.',
  uses: { operators: true, address: true },
  operations: [
    listOperators,
    createOperator,
    removeOperator,
    createLink,
    listTokens,
    createToken,
    revokeToken,
  ],
};

export const OPERATORS = [ME, ALL] as const;
