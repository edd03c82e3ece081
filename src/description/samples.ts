import { type ClientOperation, pathNames } from '../http/operation.ts';
import { MEDIA_TYPES } from '../http/body.ts';

/** The request to show, as HTTP and as a call of the client, made of the examples of the declaration. */
export function sampleRequest({ method, path, parameters, body, answer, sample }: ClientOperation) {
  const { client, query } = sample;
  const values = pathNames(path).map((name) => parameters[name]?.example);
  const rest = [...values];
  const filled = path.replaceAll(/\{\w+\}/g, () => String(rest.shift()));
  const first = body === undefined ? undefined : (Object.values(body.examples)[0]?.value as object);
  const pairs = Object.entries(query ?? {}).map(([name, value]) => `${name}=${value}`);
  const present = [...values, first, query].filter((each) => each !== undefined);
  return {
    method,
    /** Below the base address, with its query. */
    path: pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`,
    body: first,
    type: MEDIA_TYPES[method === 'PATCH' ? 'PATCH' : 'POST'][0],
    call: `${client}(${present.map(literal).join(', ')})`,
    hasAnswer: answer.content !== undefined,
  };
}

type SampleRequest = ReturnType<typeof sampleRequest>;

/** How an operation is called at the base address `base`, with the key in the variable PETSTORE_API_KEY. */
export function codeSamples(operation: ClientOperation, base: string) {
  const request = sampleRequest(operation);
  return [
    { lang: 'Shell', label: 'curl', source: curl(request, base) },
    { lang: 'TypeScript', label: 'TypeScript', source: typescript(request, base) },
    { lang: 'Python', label: 'Python', source: python(request, base) },
  ];
}

function curl({ method, path, body, type }: SampleRequest, base: string): string {
  // curl sends a GET, or a POST when there is data.
  const isImplied = method === (body === undefined ? 'GET' : 'POST');
  return [
    `curl ${isImplied ? '' : `-X ${method} `}'${base}${path}'`,
    `-H "Authorization: Bearer $PETSTORE_API_KEY"`,
    ...(body === undefined ? [] : [`-H 'Content-Type: ${type}'`, `-d '${JSON.stringify(body)}'`]),
  ].join(' \\\n  ');
}

function typescript({ call, hasAnswer }: SampleRequest, base: string): string {
  const called = `await store.${call}`;
  return `import { PetStore } from 'petstore-client';

// The client takes the key from PETSTORE_API_KEY.
const store = new PetStore({ baseUrl: '${base}' });
${hasAnswer ? `console.log(${called})` : called};`;
}

function python({ method, path, body, type, hasAnswer }: SampleRequest, base: string): string {
  const data = body === undefined ? '' : `\n    data=json.dumps(${pythonLiteral(body)}).encode(),`;
  const contentType = body === undefined ? '' : `\n        "Content-Type": "${type}",`;
  return `${hasAnswer || body !== undefined ? 'import json\n' : ''}import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(
    "${base}${path}",
    method="${method}",${data}
    headers={
        "Authorization": f"Bearer {os.environ['PETSTORE_API_KEY']}",${contentType}
    },
)
try:
    with urlopen(request) as response:
        print(${hasAnswer ? 'json.load(response)' : 'response.status'})
except HTTPError as error:
    raise SystemExit(error.read().decode())`;
}

const PYTHON_WORDS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };

/** A value in Python. */
function pythonLiteral(value: object): string {
  return JSON.stringify(value)
    .replaceAll('":', '": ')
    .replaceAll(',"', ', "')
    .replaceAll(/(?<=": )(?:true|false|null)\b/g, (word) => PYTHON_WORDS[word] ?? word);
}

/** A value in TypeScript. */
function literal(value: object | string | number | boolean): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  return `{ ${Object.entries(value)
    .map(([name, member]) => `${name}: ${literal(member)}`)
    .join(', ')} }`;
}
