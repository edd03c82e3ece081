// Contract: section 10.2.
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../domain/clock.ts';
import {
  createOperator,
  issueToken,
  linkAddress,
  makeLink,
  operatorById,
  removeOperator,
  revokeToken,
} from '../../management/operators.ts';
import type { OperatorRepository } from './repository.ts';
import { act, create, list, remove, type OperatorResource } from '../../http/operation.ts';
import {
  IssuedToken,
  Link,
  NewOperator,
  NewToken,
  OPERATOR,
  operatorJson,
  OperatorJson,
  Operators,
  TOKEN,
  tokenJson,
  Tokens,
} from './schema.ts';
import { iso, pageOfAll, rowId } from '../../admin/values.ts';

interface Stores {
  readonly operators: OperatorRepository;
  readonly clock: Clock;
  /** The address of the console, without a path. */
  readonly address: () => string;
}

const operatorId = rowId('Number of the operator.');
const NO_OPERATOR = 'There is no operator with this number.';

const listOperators = list(Operators, 'operators', {
  id: 'listOperators',
  path: '/operators',
  role: 'viewer',
  description: 'Returns a page of the operators, the oldest first.',
  examples: { all: { summary: 'All', value: [OPERATOR] } },
  async handle({ parameters }, { operators }: Stores) {
    return pageOfAll(await operators.list(), parameters, operatorJson);
  },
});

const addOperator = create(NewOperator, OperatorJson, {
  id: 'createOperator',
  path: '/operators',
  role: 'admin',
  summary: 'Add an operator',
  description:
    'Adds an operator. A role cannot be changed: remove the operator, and add it again with the other role.',
  body: {
    description: 'The operator.',
    examples: { viewer: { summary: 'One who only reads', value: { name: 'ada', role: 'viewer' } } },
  },
  answer: {
    description: 'The operator was added.',
    examples: { added: { summary: 'The operator', value: OPERATOR } },
  },
  errors: { conflict: 'Another operator has this name, ignoring case: choose another name.' },
  async handle({ body, actor }, { operators }: Stores) {
    const operator = await createOperator(operators, actor, body.name, body.role);
    return { value: operatorJson(operator) };
  },
});

const dropOperator = remove({
  id: 'removeOperator',
  path: '/operators/{operatorId}',
  role: 'admin',
  summary: 'Remove an operator',
  description: 'Removes an operator, and ends all its links, sessions and tokens at once on every instance.',
  parameters: { operatorId },
  answer: 'The operator is removed.',
  errors: { not_found: NO_OPERATOR },
  async handle({ parameters, actor }, { operators }: Stores) {
    const { name } = await operatorById(operators, parameters.operatorId);
    await removeOperator(operators, actor, name);
    return { value: undefined };
  },
});

const createLink = act(Link, {
  status: 201,
  id: 'createLink',
  path: '/operators/{operatorId}/links',
  role: 'admin',
  summary: 'Make a sign-in link',
  description: 'Makes a link that signs the operator in once, within 10 minutes. Only this answer shows it.',
  parameters: { operatorId },
  answer: {
    description: 'The link.',
    examples: {
      made: {
        summary: 'The link, once',
        value: {
          link: 'https://console.example/sign-in#…',
          expiresAt: '2026-11-23T14:15:12.645Z',
        },
      },
    },
  },
  errors: { not_found: NO_OPERATOR },
  async handle({ parameters, actor }, { operators, address }: Stores) {
    const operator = await operatorById(operators, parameters.operatorId);
    const { secret, expiresAt } = await makeLink(operators, actor, randomBytes, operator);
    const json = JSON.stringify({ link: linkAddress(address(), secret), expiresAt: iso(expiresAt) });
    return { status: 201, json };
  },
});

const listTokens = list(Tokens, 'records', {
  id: 'listTokens',
  path: '/tokens',
  role: 'admin',
  summary: 'List tokens',
  description:
    'Returns a page of the records of the tokens in force, of all operators, oldest first. It never shows the tokens.',
  examples: { all: { summary: 'All', value: [TOKEN] } },
  async handle({ parameters }, { operators }: Stores) {
    return pageOfAll(await operators.tokens(), parameters, tokenJson);
  },
});

const createToken = create(NewToken, IssuedToken, {
  id: 'createToken',
  path: '/operators/{operatorId}/tokens',
  role: 'admin',
  summary: 'Create a token',
  description: 'Creates a token, which lets a program act as the operator. Only this answer shows it.',
  parameters: { operatorId },
  body: {
    description: 'When the token ends. Without `expiresAt`, it ends with its operator.',
    examples: { year: { summary: 'For a while', value: { expiresAt: '2027-01-01T00:00:00Z' } } },
  },
  answer: {
    description: 'The token was created.',
    examples: { created: { summary: 'The token, once', value: { ...TOKEN, token: 'petstore_admin_…' } } },
  },
  errors: { not_found: NO_OPERATOR },
  async handle({ body, parameters, actor }, { operators, clock }: Stores) {
    const operator = await operatorById(operators, parameters.operatorId);
    const life = { now: clock().unix, expiresAt: body.expiresAt };
    const { token, record } = await issueToken(operators, actor, randomBytes, operator, life);
    return { value: { ...tokenJson(record), token: token.reveal() } };
  },
});

const endToken = remove({
  id: 'revokeToken',
  path: '/tokens/{tokenId}',
  role: 'admin',
  summary: 'Revoke a token',
  description: 'Ends a token at once on every instance.',
  parameters: { tokenId: rowId('Number of the token.') },
  answer: 'The token no longer works.',
  errors: { not_found: 'There is no token with this number.' },
  async handle({ parameters, actor }, { operators }: Stores) {
    await revokeToken(operators, actor, parameters.tokenId);
    return { value: undefined };
  },
});

export const OPERATORS: OperatorResource<Stores> = {
  name: 'Operators',
  description: 'The people who run the service and their programs, with the tokens of the programs.',
  operations: [listOperators, addOperator, dropOperator, createLink, listTokens, createToken, endToken],
};
