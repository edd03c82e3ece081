// Made from the description of the service by `npm run openapi`.
/** The base address of each environment. */
export const ENVIRONMENTS = {
  production: 'https://petstore.example/v1',
  staging: 'https://staging.petstore.example/v1',
} as const;

/** How each operation is called. */
export const OPERATIONS = {
  listPets: {
    method: 'GET',
    path: '/pets',
    query: { limit: 'integer', status: 'string', categoryId: 'integer', id: 'integers', cursor: 'string' },
  },
  createPet: { method: 'POST', path: '/pets', query: {} },
  getPet: { method: 'GET', path: '/pets/{petId}', query: {} },
  updatePet: { method: 'PATCH', path: '/pets/{petId}', query: {} },
  deletePet: { method: 'DELETE', path: '/pets/{petId}', query: {} },
  getAccount: { method: 'GET', path: '/account', query: {} },
  getUsage: {
    method: 'GET',
    path: '/account/usage',
    query: {
      from: 'string',
      to: 'string',
      interval: 'string',
      by: 'string',
      limit: 'integer',
      cursor: 'string',
    },
  },
  listCategories: {
    method: 'GET',
    path: '/categories',
    query: { limit: 'integer', cursor: 'string' },
  },
  createCategory: { method: 'POST', path: '/categories', query: {} },
  getCategory: { method: 'GET', path: '/categories/{categoryId}', query: {} },
  updateCategory: { method: 'PATCH', path: '/categories/{categoryId}', query: {} },
  listKeys: {
    method: 'GET',
    path: '/account/keys',
    query: { limit: 'integer', cursor: 'string' },
  },
  createKey: { method: 'POST', path: '/account/keys', query: {} },
  rotateKey: { method: 'POST', path: '/account/keys/{keyId}/rotate', query: {} },
  revokeKey: { method: 'DELETE', path: '/account/keys/{keyId}', query: {} },
  listOrders: {
    method: 'GET',
    path: '/store/orders',
    query: { limit: 'integer', status: 'string', petId: 'integer', cursor: 'string' },
  },
  createOrder: { method: 'POST', path: '/store/orders', query: {} },
  getOrder: { method: 'GET', path: '/store/orders/{orderId}', query: {} },
  cancelOrder: { method: 'DELETE', path: '/store/orders/{orderId}', query: {} },
  completeOrder: { method: 'POST', path: '/store/orders/{orderId}/complete', query: {} },
} as const;

export type OperationId = keyof typeof OPERATIONS;
