import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { promisify } from 'node:util';
import { sampleRequest } from '../src/description/samples.ts';
import { addressSample } from '../src/pages/reference/content.ts';
import samples from '../src/pages/reference/samples.json' with { type: 'json' };
import { OPERATIONS } from '../src/resources/operations.ts';
import { call } from '../test/support/api.ts';
import { EXAMPLE_ENDPOINT, exampleDatabase } from '../test/support/example-database.ts';
import { withoutKeys } from '../test/support/samples.ts';
import { temporaryFolder } from '../test/support/temporary.ts';

/*
 * Runs the generated samples of the reference, all or those of the languages in the arguments, each against a service of its
 * own, and says which of them do not print what the API answers. They are no part of the tests, because they need large
 * packages: golang-go, php-cli, php-curl, ruby, default-jdk-headless and mono-mcs of Debian.
 */

interface Language {
  readonly file: string;
  readonly commands: readonly (readonly [program: string, ...string[]])[];
  readonly wrap?: (source: string) => string;
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  go: { file: 'sample.go', commands: [['go', 'run', 'sample.go']] },
  php: { file: 'sample.php', commands: [['php', 'sample.php']] },
  ruby: { file: 'sample.rb', commands: [['ruby', 'sample.rb']] },
  java: { file: 'Sample.java', commands: [['java', 'Sample.java']] },
  csharp: {
    file: 'sample.cs',
    commands: [
      ['mcs', '-langversion:7.2', '-r:System.Net.Http', 'sample.cs'],
      ['mono', 'sample.exe'],
    ],
    // The compiler of Mono wants a class, and the imports that .NET adds by itself.
    wrap: (source) =>
      source.replace(
        /^((?:using [\w.]+;\s+)*)([^]*)$/,
        'using System;\nusing System.Net.Http;\nusing System.Threading.Tasks;\n$1class Sample { static void Main() { Run().Wait(); } static async Task Run() {\n$2\n} }',
      ),
  },
};

const execute = promisify(execFile);
const chosen = argv.length > 2 ? argv.slice(2) : Object.keys(LANGUAGES);
const stops: (() => unknown)[] = [];
const over = new AbortController();
const lifetime = { after: (stop: () => unknown) => void stops.unshift(stop), signal: over.signal };
try {
  const database = await exampleDatabase(lifetime);
  const byOperation: Readonly<Record<string, Readonly<Record<string, string>>>> = samples;
  for (const operation of OPERATIONS) {
    const { method, path, body, type } = sampleRequest(operation);
    const service = await database.start(lifetime);
    const sent =
      body === undefined
        ? {}
        : { body: addressEndpoint(JSON.stringify(body)), headers: { 'content-type': type } };
    const { status, text } = await call(service.url, `/v1${path}`, { key: database.key, method, ...sent });
    await service.stop();
    const answer = withoutKeys(text);
    for (const language of chosen) {
      const printed = await runSample(language, byOperation[operation.id]?.[language] ?? '');
      const isSame = status < 300 && withoutKeys(printed).includes(answer);
      if (!isSame) process.exitCode = 1;
      console.log(
        `${isSame ? 'good' : 'BAD '} ${language} ${operation.id}${isSame ? '' : `\n${answer}\n${printed}`}`,
      );
    }
  }

  async function runSample(language: string, text: string): Promise<string> {
    const { file, commands, wrap } = LANGUAGES[language] ?? fail(language);
    const service = await database.start(lifetime);
    const source = addressEndpoint(addressSample(text, `${service.url}/v1`)).replaceAll(
      '<API_KEY>',
      database.key,
    );
    const cwd = temporaryFolder(lifetime);
    writeFileSync(join(cwd, file), wrap?.(source) ?? source);
    try {
      let output = '';
      for (const [program, ...args] of commands) output = (await execute(program, args, { cwd })).stdout;
      return output;
    } catch (error) {
      return String(error);
    } finally {
      await service.stop();
    }
  }
} finally {
  for (const stop of stops) await stop();
  over.abort();
}

/** The address of the examples resolves nowhere. */
function addressEndpoint(text: string): string {
  return text.replaceAll('https://shop.example', EXAMPLE_ENDPOINT);
}

function fail(language: string): never {
  throw new Error(`There are no samples in ${language}: choose from ${Object.keys(LANGUAGES).join(', ')}.`);
}
