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

const ORDER_OF_ACCOUNT = {
  type: 'object',
  required: ['id', 'petId', 'quantity', 'status', 'complete', 'createdAt', 'expiresAt'],
  properties: {
    id: { type: 'integer' },
    petId: { type: 'integer' },
    quantity: { type: 'integer' },
    status: { type: 'string' },
    complete: { type: 'boolean' },
    createdAt: { type: 'string' },
    expiresAt: { type: 'string' },
  },
} as const;

export const PATCH = {
  params: { type: 'object', required: ['petId'], properties: { petId: { type: 'integer' } } },
  body: { type: 'object', properties: NEW_PET },
  response: { 200: PET, '4xx': ERROR },
} as const;

export const ORDER = {
  body: {
    type: 'object',
    required: ['petId'],
    properties: { petId: { type: 'integer' }, quantity: { type: 'integer', const: 1 } },
  },
  response: { 201: ORDER_OF_ACCOUNT, '4xx': ERROR },
} as const;

export const COMPLETE = {
  params: { type: 'object', required: ['orderId'], properties: { orderId: { type: 'integer' } } },
  response: { 200: ORDER_OF_ACCOUNT, '4xx': ERROR },
} as const;

export const GET = {
  params: {
    type: 'object',
    required: ['petId'],
    properties: { petId: { type: 'string', pattern: '^-?\\d{1,19}$' } },
  },
  response: { 200: PET, '4xx': ERROR },
} as const;
