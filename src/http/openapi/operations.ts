// Contract: section 3.
import type { Scope } from '../../domain/account.ts';
import { GET_PET_SUNSET } from '../deprecation.ts';
import { parseIdempotencyKey } from '../parameters.ts';
import { lacksScope } from '../messages.ts';
import { messageOf } from './errors.ts';
import { NEW_PET, NEW_PET_WITHOUT_STATUS, PET, PETS } from './examples.ts';
import { headerRefs } from './headers.ts';
import { parameterRefs } from './parameters.ts';
import { errors, notModified, success } from './responses.ts';
import { schemaRef } from './schemas.ts';
import type { OperationObject, Paths } from './types.ts';

export const SECURITY_SCHEME = 'apiKey';

const VALIDATORS = headerRefs('ETag', 'Cache-Control');
const DEPRECATION = headerRefs('Deprecation', 'Sunset', 'DeprecationLinks');

const LACKS_READ = { insufficient_scope: lacksScope('pets:read') };

const listPets: OperationObject = {
  operationId: 'listPets',
  tags: ['Pets'],
  summary: 'List animals',
  description:
    'Returns a page of animals, the newest first. When there are more, the `Link` header leads to the next page. ' +
    'HEAD answers the same without a body.',
  security: requires('pets:read'),
  parameters: parameterRefs('limit', 'status', 'cursor', 'If-None-Match', 'X-Request-Id'),
  responses: {
    200: success('A page of animals.', { ...VALIDATORS, ...headerRefs('NextLink') }, 'Pets', {
      page: { summary: 'Two animals, one of them without a status', value: PETS },
      empty: { summary: 'No animal matches', value: [] },
    }),
    ...notModified({ ...VALIDATORS, ...headerRefs('NextLink') }),
    ...errors(['invalid_parameter'], {}, LACKS_READ),
  },
};

const createPet: OperationObject = {
  operationId: 'createPet',
  tags: ['Pets'],
  summary: 'Add an animal',
  description:
    'Adds an animal and answers once it is stored for good. Fields that NewPet does not have are ignored. ' +
    'With an `Idempotency-Key` the request can be repeated without adding the animal twice.',
  security: requires('pets:write'),
  parameters: parameterRefs('Idempotency-Key', 'X-Request-Id'),
  requestBody: {
    required: true,
    description: 'The animal to add.',
    content: {
      'application/json': {
        schema: schemaRef('NewPet'),
        examples: {
          complete: { summary: 'With every field', value: NEW_PET },
          withoutStatus: { summary: 'Without a status', value: NEW_PET_WITHOUT_STATUS },
        },
      },
    },
  },
  responses: {
    201: success(
      'The animal was added; the body carries its `id`.',
      headerRefs('Location', 'Idempotent-Replay'),
      'Pet',
      { added: { summary: 'The animal as it was stored', value: PET } },
    ),
    ...errors(
      [
        'invalid_request',
        'invalid_parameter',
        'conflict',
        'payload_too_large',
        'unsupported_media_type',
        'idempotency_key_reused',
      ],
      {},
      { invalid_parameter: messageOf(() => parseIdempotencyKey('')) },
    ),
  },
};

const getPet: OperationObject = {
  operationId: 'getPet',
  tags: ['Pets'],
  summary: 'Get an animal',
  description:
    'Returns one animal. Use `GET /pets` with the `status` filter instead: once removed, this operation answers 410. ' +
    'HEAD answers the same without a body.',
  deprecated: true,
  'x-deprecated-sunset': GET_PET_SUNSET,
  security: requires('pets:read'),
  parameters: parameterRefs('petId', 'If-None-Match', 'X-Request-Id'),
  responses: {
    200: success('The animal.', { ...VALIDATORS, ...DEPRECATION }, 'Pet', {
      found: { summary: 'An animal that is available', value: PET },
    }),
    ...notModified({ ...VALIDATORS, ...DEPRECATION }),
    ...errors(['not_found', 'gone'], DEPRECATION, LACKS_READ),
  },
};

/** The operations by path. */
export const PATHS: Paths = {
  '/pets': { get: listPets, post: createPet },
  '/pets/{petId}': { get: getPet },
};

function requires(scope: Scope) {
  return [{ [SECURITY_SCHEME]: [scope] }];
}
