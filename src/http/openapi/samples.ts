import { NEW_PET } from './examples.ts';
import { LIMIT } from '../parameters.ts';
import { EXAMPLE_PET } from './examples.ts';
import type { CodeSample } from './types.ts';

/** A request to show: as HTTP, and as a call of the client. */
interface SampleRequest {
  readonly method: 'GET' | 'POST';
  /** Below the base address, with its query. */
  readonly path: string;
  readonly body?: object;
  /** What the client is asked, as TypeScript. */
  readonly call: string;
}

const REQUESTS: Readonly<Record<string, SampleRequest>> = {
  listPets: {
    method: 'GET',
    path: `/pets?limit=${LIMIT.default}&status=${EXAMPLE_PET.status}`,
    call: `list(${literal({ limit: LIMIT.default, status: EXAMPLE_PET.status })})`,
  },
  createPet: { method: 'POST', path: '/pets', body: NEW_PET, call: `create(${literal(NEW_PET)})` },
  getPet: { method: 'GET', path: `/pets/${EXAMPLE_PET.id}`, call: `get(${EXAMPLE_PET.id})` },
};

/** How an operation is called at the base address `base`, with the key in the variable PETSTORE_API_KEY. */
export function codeSamples(operationId: string, base: string): readonly CodeSample[] {
  const request = REQUESTS[operationId];
  if (request === undefined) return [];
  return [
    { lang: 'Shell', label: 'curl', source: curl(request, base) },
    { lang: 'TypeScript', label: 'TypeScript', source: typescript(request, base) },
    { lang: 'Python', label: 'Python', source: python(request, base) },
  ];
}

function curl({ path, body }: SampleRequest, base: string): string {
  return [
    `curl '${base}${path}'`,
    `-H "Authorization: Bearer $PETSTORE_API_KEY"`,
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body)}'`]),
  ].join(' \\\n  ');
}

function typescript({ call }: SampleRequest, base: string): string {
  return `import { PetStore } from 'petstore-client';

const store = new PetStore({
  apiKey: process.env.PETSTORE_API_KEY!,
  baseUrl: '${base}',
});
console.log(await store.pets.${call});`;
}

function python({ method, path, body }: SampleRequest, base: string): string {
  const data =
    body === undefined
      ? ''
      : `\n    data=json.dumps(${JSON.stringify(body).replaceAll('":', '": ').replaceAll(',"', ', "')}).encode(),`;
  const type = body === undefined ? '' : '\n        "Content-Type": "application/json",';
  return `import json
import os
from urllib.request import Request, urlopen

request = Request(
    "${base}${path}",
    method="${method}",${data}
    headers={
        "Authorization": f"Bearer {os.environ['PETSTORE_API_KEY']}",${type}
    },
)
with urlopen(request) as response:
    print(json.load(response))`;
}

/** An object as TypeScript writes it. */
function literal(value: object): string {
  const fields = Object.entries(value).map(([name, its]) => {
    return `${name}: ${typeof its === 'string' ? `'${its}'` : String(its)}`;
  });
  return `{ ${fields.join(', ')} }`;
}
