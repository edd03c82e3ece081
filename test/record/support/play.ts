import type { Lifetime } from '../../support/lifetime.ts';
import { startTestConsole, type TestConsole } from '../../support/console.ts';
import { fakeClock } from '../../support/clock.ts';
import type { Backend, Stores } from './backends.ts';
import { describeResponse, shorten } from './normal.ts';
import type { Row, Scenario, Step } from './scenario.ts';
import { openConnection, type WireResponse } from './wire.ts';

/** Base addresses that do not depend on the port. */
const ENV = {
  PRODUCTION_URL: 'https://petstore.example/v1',
  STAGING_URL: 'https://staging.petstore.example/v1',
};

/** The `Host` of every request. The console takes it as its own. */
const HOST = 'localhost';

/** Times that an answer of the background is asked for, some milliseconds apart. */
const MOST_TRIES = 2_000;

/** Plays a scenario on stores of its own, and gives what was answered, by the names of its rows. */
export async function play(
  t: Lifetime,
  backend: Backend,
  scenario: Scenario,
): Promise<ReadonlyMap<string, string>> {
  const stage = await setStage(t, backend, scenario);
  const seen = new Map<string, string>();
  for (const [name, row] of scenario.rows) {
    const step = stepOf(row);
    if (step.only !== undefined && step.only !== backend.name) continue;
    if (seen.has(name)) throw new Error(`Two rows of ${scenario.name} are called "${name}".`);
    if (step.restart === true) {
      await stage.service.stop();
      stage.service = await stage.start();
    }
    if (step.pass !== undefined) {
      stage.service.clock.advance(step.pass);
      await stage.stores.passTime(step.pass);
    }
    if (step.sql !== undefined) await stage.stores.execute(step.sql);
    if (step.loseDatabase !== undefined) await stage.stores.lose(step.loseDatabase);
    seen.set(name, await perform(stage, step));
  }
  await stage.service.stop();
  return seen;
}

/**
 * Plays the requests of a scenario while the service stops, which waits for one that it has accepted: its body is complete
 * only when the others are answered. All are begun before, because a service that stops takes no connections.
 */
export async function playStopping(
  t: Lifetime,
  backend: Backend,
  { scenario, accepted }: { readonly scenario: Scenario; readonly accepted: Row },
): Promise<ReadonlyMap<string, string>> {
  const stage = await setStage(t, backend, scenario);
  const begun = [];
  for (const [name, row] of [accepted, ...scenario.rows]) {
    const step = stepOf(row);
    const { base, method, bytes } = requestOf(stage, step);
    const connection = await openConnection(base);
    const rest = name === accepted[0] ? 1 : bytes.length - 1;
    connection.write(bytes.subarray(0, bytes.length - rest));
    begun.push({ name, step, connection, method, rest: bytes.subarray(bytes.length - rest) });
  }
  // The service has accepted the first one when it answers a later one, sent whole.
  const { base } = requestOf(stage, { send: 'GET /healthz', as: null });
  for (let sent = 0; sent < 5; sent++)
    await exchange(
      base,
      Buffer.from('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
      'GET',
      false,
    );
  const stopped = stage.service.stop();
  const seen = new Map<string, string>();
  for (const { name, step, connection, method, rest } of [...begun.slice(1), ...begun.slice(0, 1)]) {
    connection.write(rest);
    const response = await connection.next(method);
    connection.close();
    seen.set(name, describe(stage, step, response === undefined ? [] : [response]));
  }
  await stopped;
  return seen;
}

function stepOf(row: string | Step): Step {
  return typeof row === 'string' ? { send: row } : row;
}

interface Stage {
  readonly scenario: Scenario;
  readonly start: () => Promise<TestConsole>;
  readonly stores: Stores;
  service: TestConsole;
  /** What `$name` stands for. */
  readonly saved: Map<string, string>;
  /** The names of what is random. */
  readonly secrets: Set<string>;
}

async function setStage(t: Lifetime, backend: Backend, scenario: Scenario): Promise<Stage> {
  const clock = fakeClock(scenario.start);
  const stores = await backend.open(t, clock);
  const start = () =>
    startTestConsole(t, {
      clock,
      databaseUrl: stores.databaseUrl,
      env: { ...ENV, ...stores.env, ...scenario.env },
      ...(scenario.limits && { limits: scenario.limits }),
    });
  const stage = {
    scenario,
    start,
    stores,
    service: await start(),
    saved: new Map(),
    secrets: new Set<string>(),
  };
  await prepare(stage);
  return stage;
}

async function prepare({ scenario, service, saved, secrets }: Stage): Promise<void> {
  const { keys = scenario.listener === 'console' ? {} : { key: {} }, operators = {} } = scenario;
  for (const [name, options] of Object.entries(keys)) saved.set(name, await service.issueKey(options));
  for (const [name, role] of Object.entries(operators)) saved.set(name, await service.makeToken(name, role));
  for (const name of saved.keys()) secrets.add(name);
}

async function perform(stage: Stage, step: Step): Promise<string> {
  const { base, method, bytes } = requestOf(stage, step);
  const isRaw = step.raw !== undefined;
  let responses = await exchange(base, bytes, method, isRaw);
  for (let sent = 1; sent < (step.times ?? 1); sent++) responses = await exchange(base, bytes, method, isRaw);
  for (let tries = 0; step.until !== undefined && responses[0]?.status !== step.until; tries++) {
    if (tries === MOST_TRIES) throw new Error(`Never answered ${step.until}: ${step.send}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
    responses = await exchange(base, bytes, method, isRaw);
  }
  remember(stage, step, responses);
  return describe(stage, step, responses);
}

/** The bytes of a request, and where they go. `$port` is that of the listener. */
function requestOf(stage: Stage, step: Step): { base: string; method: string; bytes: Buffer } {
  const { saved, service, scenario } = stage;
  const { listener = scenario.listener } = step;
  const base = listener === 'console' ? service.listener : service.url;
  const text = requestText(stage, step).replaceAll(/\$(\w+)/g, (_, name: string) => {
    const value = name === 'port' ? new URL(base).port : saved.get(name);
    if (value === undefined) throw new Error(`Nothing is saved as ${name}.`);
    return value;
  });
  return {
    base,
    method: step.send?.split(' ')[0] ?? '',
    bytes: Buffer.from(text, step.raw === undefined ? 'utf8' : 'latin1'),
  };
}

/** A request and its responses as a fixture has them. */
function describe(stage: Stage, step: Step, responses: readonly WireResponse[]): string {
  const { isAboutLimits, hasOtherBodies } = stage.scenario;
  const options = {
    isAboutLimits: isAboutLimits === true,
    replace: (text: string) => hideSecrets(stage, text),
    withoutBody: hasOtherBodies === true,
    isWhole: step.isWhole === true,
    isTagRandom: step.isTagRandom === true,
  };
  const answers = responses.map((response) => describeResponse(response, options));
  if (answers.length === 0) answers.push('(closed without a response)');
  return [describeRequest(stage, step), ...answers].join('\n');
}

async function exchange(
  base: string,
  bytes: Buffer,
  method: string,
  isRaw: boolean,
): Promise<WireResponse[]> {
  const connection = await openConnection(base);
  try {
    connection.write(bytes);
    const responses: WireResponse[] = [];
    for (let more = true; more; ) {
      const response = await connection.next(method);
      if (response !== undefined) responses.push(response);
      more = isRaw && response !== undefined;
    }
    return responses;
  } finally {
    connection.close();
  }
}

/** The bytes of a request, in which `$name` still stands. */
function requestText(stage: Stage, step: Step): string {
  if (step.raw !== undefined) return step.raw;
  const { scenario, saved } = stage;
  const caller =
    step.as === undefined ? (scenario.as === undefined ? [...saved.keys()][0] : scenario.as) : step.as;
  const body = bodyText(step);
  const headers: Record<string, string> = { Host: HOST };
  if (caller !== null && caller !== undefined) headers['Authorization'] = `Bearer $${caller}`;
  if (body !== undefined) {
    const filled = body.replaceAll(/\$(\w+)/g, (_, name: string) => saved.get(name) ?? '');
    headers['Content-Type'] = 'application/json';
    headers['Content-Length'] = `${Buffer.byteLength(filled)}`;
  }
  const lines = Object.entries({ ...headers, ...step.headers })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}\r\n`);
  return `${step.send} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}

function bodyText({ body }: Step): string | undefined {
  return body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
}

/** The request as a fixture has it, so that the fixture can be read by itself. */
function describeRequest({ scenario }: Stage, step: Step): string {
  if (step.raw !== undefined) return `> ${shorten(JSON.stringify(step.raw))}`;
  const caller = step.as === undefined ? scenario.as : step.as;
  const by = caller === undefined ? '' : caller === null ? ' (nobody)' : ` (${caller})`;
  const lines = [`> ${shorten(step.send ?? '')}${by}`];
  for (const [name, value] of Object.entries(step.headers ?? {})) lines.push(`> ${name}: ${shorten(value)}`);
  const body = bodyText(step);
  if (body !== undefined) lines.push(`> ${shorten(body)}`);
  return lines.join('\n');
}

function remember({ saved, secrets }: Stage, { save = {} }: Step, responses: readonly WireResponse[]): void {
  for (const [name, pattern] of Object.entries(save)) {
    const text = responses
      .map(
        ({ headers, body }) =>
          `${headers.map((header) => header.join(': ')).join('\n')}\n\n${body.toString()}`,
      )
      .join('\n');
    const value = pattern.exec(text)?.[1];
    if (value === undefined) throw new Error(`${pattern} finds nothing in:\n${text}`);
    saved.set(name, value);
    if (name.endsWith('Key') || name.endsWith('Secret')) secrets.add(name);
  }
}

function hideSecrets({ saved, secrets }: Stage, text: string): string {
  let hidden = text;
  for (const name of secrets) hidden = hidden.replaceAll(saved.get(name) ?? '', `<${name}>`);
  return hidden;
}
