// Made from the description of the service by `npm run openapi`.
/** The base address of each environment. */
export const ENVIRONMENTS = {
  production: 'https://petstore.example/v1',
  staging: 'https://staging.petstore.example/v1',
} as const;

/** How each operation is called, and whose windows its requests count in: those of the plan, or those of the holder. */
export const OPERATIONS = {
  listPets: {
    method: 'GET',
    path: '/pets',
    allowance: 'plan',
    query: {
      limit: 'integer',
      status: 'string',
      categoryId: 'integer',
      id: 'integers',
      name: 'string',
      reference: 'string',
      mine: 'boolean',
      cursor: 'string',
    },
  },
  createPet: { method: 'POST', path: '/pets', allowance: 'plan', query: {} },
  getPet: { method: 'GET', path: '/pets/{petId}', allowance: 'plan', query: {} },
  updatePet: { method: 'PATCH', path: '/pets/{petId}', allowance: 'plan', query: {} },
  deletePet: { method: 'DELETE', path: '/pets/{petId}', allowance: 'plan', query: {} },
  getAccount: { method: 'GET', path: '/account', allowance: 'holder', query: {} },
  getUsage: {
    method: 'GET',
    path: '/account/usage',
    allowance: 'holder',
    query: {
      from: 'string',
      to: 'string',
      interval: 'string',
      by: 'string',
      allowance: 'string',
      limit: 'integer',
      cursor: 'string',
    },
  },
  listRequests: {
    method: 'GET',
    path: '/account/requests',
    allowance: 'holder',
    query: { limit: 'integer', cursor: 'string' },
  },
  listCategories: {
    method: 'GET',
    path: '/categories',
    allowance: 'plan',
    query: { limit: 'integer', cursor: 'string' },
  },
  createCategory: { method: 'POST', path: '/categories', allowance: 'plan', query: {} },
  getCategory: { method: 'GET', path: '/categories/{categoryId}', allowance: 'plan', query: {} },
  updateCategory: { method: 'PATCH', path: '/categories/{categoryId}', allowance: 'plan', query: {} },
  deleteCategory: { method: 'DELETE', path: '/categories/{categoryId}', allowance: 'plan', query: {} },
  listEvents: {
    method: 'GET',
    path: '/events',
    allowance: 'plan',
    query: { limit: 'integer', type: 'strings', wait: 'integer', after: 'string' },
  },
  listKeys: {
    method: 'GET',
    path: '/account/keys',
    allowance: 'holder',
    query: { limit: 'integer', cursor: 'string' },
  },
  createKey: { method: 'POST', path: '/account/keys', allowance: 'holder', query: {} },
  rotateKey: { method: 'POST', path: '/account/keys/{keyId}/rotate', allowance: 'holder', query: {} },
  revokeKey: {
    method: 'DELETE',
    path: '/account/keys/{keyId}',
    allowance: 'holder',
    query: { webhooks: 'string' },
  },
  getInventory: { method: 'GET', path: '/store/inventory', allowance: 'plan', query: {} },
  listOrders: {
    method: 'GET',
    path: '/store/orders',
    allowance: 'plan',
    query: { limit: 'integer', status: 'string', petId: 'integer', cursor: 'string' },
  },
  createOrder: { method: 'POST', path: '/store/orders', allowance: 'plan', query: {} },
  getOrder: { method: 'GET', path: '/store/orders/{orderId}', allowance: 'plan', query: {} },
  cancelOrder: { method: 'DELETE', path: '/store/orders/{orderId}', allowance: 'plan', query: {} },
  completeOrder: { method: 'POST', path: '/store/orders/{orderId}/complete', allowance: 'plan', query: {} },
  listWebhooks: {
    method: 'GET',
    path: '/webhooks',
    allowance: 'holder',
    query: { limit: 'integer', cursor: 'string' },
  },
  createWebhook: { method: 'POST', path: '/webhooks', allowance: 'holder', query: {} },
  getWebhook: { method: 'GET', path: '/webhooks/{webhookId}', allowance: 'holder', query: {} },
  updateWebhook: { method: 'PATCH', path: '/webhooks/{webhookId}', allowance: 'holder', query: {} },
  deleteWebhook: { method: 'DELETE', path: '/webhooks/{webhookId}', allowance: 'holder', query: {} },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/webhooks/{webhookId}/rotate',
    allowance: 'holder',
    query: {},
  },
  testWebhook: { method: 'POST', path: '/webhooks/{webhookId}/test', allowance: 'holder', query: {} },
  listDeliveries: {
    method: 'GET',
    path: '/webhooks/{webhookId}/deliveries',
    allowance: 'holder',
    query: { limit: 'integer', status: 'string', cursor: 'string' },
  },
  getDelivery: {
    method: 'GET',
    path: '/webhooks/{webhookId}/deliveries/{deliveryId}',
    allowance: 'holder',
    query: {},
  },
  redeliver: {
    method: 'POST',
    path: '/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
    allowance: 'holder',
    query: {},
  },
  replayWebhook: { method: 'POST', path: '/webhooks/{webhookId}/replay', allowance: 'holder', query: {} },
} as const;

export type OperationId = keyof typeof OPERATIONS;

export type Allowance = (typeof OPERATIONS)[OperationId]['allowance'];
