import assert from 'node:assert/strict';
import type { Operator, Role } from '../../src/domain/operator.ts';
import { OperatorSecret } from '../../src/resources/operators/rules.ts';
import { requireValue } from '../storage/fixture.ts';
import { type Answer, type Asked, call } from './api.ts';
import type { Lifetime } from './lifetime.ts';
import { type ServiceOptions, startTestService, type TestService } from './service.ts';
import { ROOT } from './store.ts';

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));

/** A service with its console, which has a listener of its own. */
export interface TestConsole extends TestService {
  readonly consoleUrl: string;
  /** The address of the listener, also when CONSOLE_URL is another one. */
  readonly listener: string;
  /** Makes an operator, unless there is one, and a link that signs in. Returns the secret of the link. */
  makeLink(name: string, role?: Role): Promise<string>;
  /** Makes an operator, unless there is one, and a token. */
  makeToken(name: string, role?: Role): Promise<string>;
  removeOperator(name: string): Promise<void>;
  /** One request to the console, as its own pages make it. */
  ask(path: string, asked?: Asked): Promise<Answer>;
  /** Uses a link. */
  signIn(link: string, headers?: Record<string, string>): Promise<Answer>;
  /** Makes an operator and a session. Returns the `Cookie` header of the session. */
  session(name: string, role?: Role): Promise<string>;
}

/** A request to the admin API from a browser with a session. */
export const asBrowser = (cookie: string, asked: Asked = {}): Asked => ({
  ...asked,
  headers: { cookie, ...asked.headers },
});

/** The whole service with a console, on free ports. It is stopped after the test. */
export async function startTestConsole(t: Lifetime, options: ServiceOptions = {}): Promise<TestConsole> {
  return consoleOf(
    await startTestService(t, { ...options, env: { CONSOLE_PORT: '0', ...options.env } }),
    options.env?.['CONSOLE_URL'],
  );
}

/** The console of a service that was started with CONSOLE_PORT; `url` is its CONSOLE_URL, if it has one. */
export function consoleOf(service: TestService, url?: string): TestConsole {
  const { operators } = service.store;
  const line = service.log.find(({ msg }) => msg === 'console') as { url: string; listener: string };
  const origin = url ?? line.url;
  const host = new URL(origin).host;
  const operator = async (name: string, role: Role): Promise<Operator> => {
    const found = await operators.find(name);
    return requireValue('value' in found ? found : await operators.create(ROOT, name, role));
  };
  const ask = (path: string, { headers, ...asked }: Asked = {}) =>
    call(line.listener, path, { ...asked, headers: { host, origin, ...headers } });
  const its: TestConsole = Object.assign(service, {
    consoleUrl: origin,
    listener: line.listener,
    ask,
    async makeLink(name: string, role: Role = 'admin') {
      const { id } = await operator(name, role);
      return requireValue(await operators.createLink(ROOT, id)).secret.reveal();
    },
    async makeToken(name: string, role: Role = 'admin') {
      const { id } = await operator(name, role);
      return requireValue(await operators.createToken(ROOT, id, undefined)).token.reveal();
    },
    async removeOperator(name: string) {
      const { id } = requireValue(await operators.find(name));
      requireValue(await operators.remove(ROOT, id));
    },
    signIn: (link: string, headers: Record<string, string> = {}) =>
      ask('/sign-in', { body: JSON.stringify({ link }), headers }),
    async session(name: string, role: Role = 'admin') {
      const answer = await its.signIn(await its.makeLink(name, role));
      return cookieOf(answer);
    },
  });
  return its;
}

/** Sends requests to the admin API as an operator with a session. */
export async function adminOf(its: TestConsole, name = 'ada') {
  const cookie = await its.session(name);
  const ask = (path: string, asked?: Asked): Promise<Answer> =>
    its.ask(`/admin/v1${path}`, asBrowser(cookie, asked));
  /** The body of an answer with 200. */
  const get = async (path: string) => {
    const answer = await ask(path);
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  /** The rows of a list, page by page, as `Link` leads through them. */
  const pages = async (path: string) => {
    const read: any[][] = [];
    for (let next: string | undefined = path; next !== undefined; ) {
      assert.ok(read.length < 10, next);
      const answer = await ask(next);
      assert.equal(answer.status, 200, answer.text);
      read.push(answer.json);
      next = /^<\/admin\/v1([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
    }
    return read;
  };
  return { its, ask, get, pages };
}

/** The `Cookie` header that a browser sends after this answer. */
export function cookieOf(answer: Answer): string {
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** A secret of the right format that nobody has made. */
export function inventedSecret(kind: 'link' | 'session' | 'token'): string {
  return OperatorSecret.generate(kind, random).reveal();
}
