// What fastify validates requests by, and compiles serializers from.

const STATUS = { type: 'string', enum: ['available', 'pending', 'sold'] } as const;

const NEW_PET = {
  name: { type: 'string', minLength: 1, maxLength: 200, pattern: '\\S' },
  categoryId: { type: 'integer' },
  status: STATUS,
} as const;

const PET = {
  type: 'object',
  required: ['id', 'name', 'categoryId'],
  properties: { id: { type: 'integer' }, ...NEW_PET },
} as const;

const ERROR = {
  type: 'object',
  required: ['code', 'message', 'status'],
  properties: { code: { type: 'string' }, message: { type: 'string' }, status: { type: 'integer' } },
} as const;

export const LIST = {
  querystring: {
    type: 'object',
    properties: {
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      status: STATUS,
      cursor: { type: 'string' },
    },
  },
  response: { 200: { type: 'array', items: PET }, '4xx': ERROR },
} as const;

export const CREATE = {
  body: { type: 'object', required: ['name', 'categoryId'], properties: NEW_PET },
  response: { 201: PET, '4xx': ERROR },
} as const;

export const GET = {
  params: {
    type: 'object',
    required: ['petId'],
    properties: { petId: { type: 'string', pattern: '^-?\\d{1,19}$' } },
  },
  response: { 200: PET, '4xx': ERROR },
} as const;
