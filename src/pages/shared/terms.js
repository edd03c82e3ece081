// Made from the description of the service by `npm run openapi`.
/**
 * What the reference calls each operation of clients.
 * @type {Readonly<Record<string, { name: string, removal?: string, successor?: string }>>} the date, and what to use instead, of a deprecated one
 */
export const OPERATIONS = {
  listPets: { name: 'List animals' },
  createPet: { name: 'Add an animal' },
  getPet: { name: 'Get an animal', removal: '2030-12-05', successor: 'GET /pets' },
  updatePet: { name: 'Change an animal' },
  deletePet: { name: 'Delete an animal' },
  getAccount: { name: 'Get the account' },
  getUsage: { name: 'Get the usage of the account' },
  listRequests: { name: 'List failed requests' },
  listCategories: { name: 'List categories' },
  createCategory: { name: 'Add a category' },
  getCategory: { name: 'Get a category' },
  updateCategory: { name: 'Change a category' },
  deleteCategory: { name: 'Delete a category' },
  listEvents: { name: 'Read the feed of events' },
  listKeys: { name: 'List keys' },
  createKey: { name: 'Create a key' },
  rotateKey: { name: 'Rotate a key' },
  revokeKey: { name: 'Revoke a key' },
  getInventory: { name: 'Count the animals' },
  listOrders: { name: 'List orders' },
  createOrder: { name: 'Order an animal' },
  getOrder: { name: 'Get an order' },
  cancelOrder: { name: 'Cancel an order' },
  completeOrder: { name: 'Complete an order' },
  listWebhooks: { name: 'List webhooks' },
  createWebhook: { name: 'Add a webhook' },
  getWebhook: { name: 'Get a webhook' },
  updateWebhook: { name: 'Change a webhook' },
  deleteWebhook: { name: 'Delete a webhook' },
  rotateWebhookSecret: { name: 'Rotate the secret of a webhook' },
  testWebhook: { name: 'Test a webhook' },
  listDeliveries: { name: 'List attempts' },
  redeliver: { name: 'Deliver an event again' },
  replayWebhook: { name: 'Send events again' },
};

/**
 * The types of events that a webhook can choose, and the groups of types. No choice stands for all.
 * @type {NonNullable<import('../../../client/src/index.ts').NewWebhook['types']>}
 */
export const EVENT_TYPES = [
  'pet.*',
  'category.*',
  'order.*',
  'limit.*',
  'key.*',
  'webhook.*',
  'pet.created',
  'pet.updated',
  'pet.deleted',
  'category.created',
  'category.updated',
  'category.deleted',
  'order.created',
  'order.completed',
  'order.cancelled',
  'order.expired',
  'limit.warning',
  'limit.reached',
  'key.created',
  'key.rotated',
  'key.revoked',
  'key.banned',
  'key.expiring',
  'webhook.disabled',
];
