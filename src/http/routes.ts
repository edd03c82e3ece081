// Contract: section 3.
import type { Operation } from './pets.ts';

/** A path of the API below `/v1`, and the operation of each of its methods. */
export interface Route {
  /** As the description and the log name it. */
  readonly template: string;
  readonly operations: Readonly<Partial<Record<string, Operation>>>;
  /** For `Allow` and for CORS. */
  readonly methods: string;
}

export interface Match {
  readonly route: Route;
  readonly petId: string;
}

/** The routes of the API. HEAD is answered as GET without a body. */
export function apiRoutes(operations: {
  listPets: Operation;
  createPet: Operation;
  getPet: Operation;
}): (path: string) => Match | undefined {
  const { listPets, createPet, getPet } = operations;
  const pets: Match = {
    route: route('/v1/pets', { GET: listPets, HEAD: listPets, POST: createPet }),
    petId: '',
  };
  const pet = route('/v1/pets/{petId}', { GET: getPet, HEAD: getPet });
  return (path) => {
    if (path === '/v1/pets') return pets;
    const petId = path.startsWith('/v1/pets/') ? path.slice('/v1/pets/'.length) : '';
    return petId === '' || petId.includes('/') ? undefined : { route: pet, petId };
  };
}

function route(template: string, operations: Route['operations']): Route {
  return { template, operations, methods: [...Object.keys(operations), 'OPTIONS'].join(', ') };
}
