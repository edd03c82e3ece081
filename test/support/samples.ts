import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { program } from './servers.ts';

const run = promisify(execFile);

/** @throws MissingProgram */
export function findPython(): string {
  return program('python3', 'python3');
}

/** @throws MissingProgram */
export function findCurl(): string {
  return program('curl', 'curl');
}

/** What a code sample in shell prints when it is run with the API key in the environment. */
export async function runShell(source: string, key: string): Promise<string> {
  findCurl();
  const { stdout } = await run('sh', ['-c', source], environment(key));
  return stdout;
}

/** What a code sample in Python prints when it is run with the API key in the environment. */
export async function runPython(source: string, key: string): Promise<string> {
  const { stdout } = await run(findPython(), ['-c', source], environment(key));
  return stdout;
}

function environment(key: string) {
  return { env: { ...process.env, PETSTORE_API_KEY: key } };
}

/** A text without what differs from run to run: keys and their last characters, secrets, signatures, and ids of tests. */
export function withoutKeys(text: string): string {
  return text
    .replaceAll(/(v1,)[A-Za-z0-9+/]{43}=/g, '$1')
    .replaceAll(/(petstore_live_)\w{38}|(whsec_)[A-Za-z0-9+/=]{44}|(test_)[0-9a-f]{32}/g, '$1$2$3')
    .replaceAll(/(\bending['"]?: ?)(['"])\w{4}['"]/g, '$1$2$2');
}
