// Made from the description of the service by `npm run openapi`.
/** The base address of each environment. */
export const ENVIRONMENTS = {
  production: 'https://petstore.example/v1',
  staging: 'https://staging.petstore.example/v1',
} as const;

/** How each operation is called. */
export const OPERATIONS = {
  listPets: { method: 'GET', path: '/pets', query: ['limit', 'status', 'cursor'] },
  createPet: { method: 'POST', path: '/pets', query: [] },
  getPet: { method: 'GET', path: '/pets/{petId}', query: [] },
} as const;

export type OperationId = keyof typeof OPERATIONS;
