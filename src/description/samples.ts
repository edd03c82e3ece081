import { type Operation, pathNames } from '../api/operation.ts';

/** The request to show, as HTTP and as a call of the client, made of the examples of the declaration. */
function sampleRequest({ method, path, parameters, body, sample }: Operation) {
  const { client, query } = sample;
  const values = pathNames(path).map((name) => parameters[name]?.example);
  const rest = [...values];
  const filled = path.replaceAll(/\{\w+\}/g, () => String(rest.shift()));
  const first = body === undefined ? undefined : (Object.values(body.examples)[0]?.value as object);
  const pairs = Object.entries(query ?? {}).map(([name, value]) => `${name}=${value}`);
  const given = [...values, first, query].filter((each) => each !== undefined);
  return {
    method,
    /** Below the base address, with its query. */
    path: pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`,
    body: first,
    call: `${client}(${given.map(literal).join(', ')})`,
  };
}

type SampleRequest = ReturnType<typeof sampleRequest>;

/** How an operation is called at the base address `base`, with the key in the variable PETSTORE_API_KEY. */
export function codeSamples(operation: Operation, base: string) {
  const request = sampleRequest(operation);
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

// The client takes the key from PETSTORE_API_KEY.
const store = new PetStore({ baseUrl: '${base}' });
console.log(await store.${call});`;
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

/** A value in TypeScript. */
function literal(value: object | string | number): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'number') return String(value);
  return `{ ${Object.entries(value)
    .map(([name, its]) => `${name}: ${literal(its)}`)
    .join(', ')} }`;
}
