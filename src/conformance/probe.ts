import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import { toJson } from '../domain/json.ts';
import { type Answer, describeAnswer, describeRequest, type Finding, type Request } from './answer.ts';
import type { Description } from './description.ts';
import { NoAnswer } from './transport.ts';
import { type Json, member } from './json.ts';

/** Ends a check: what follows would make no sense. */
export class CheckEnded extends Error {}

/** Ends a check that nothing can be said of. The message says why. */
export class CheckSkipped extends Error {}

/** What all checks of a run share. */
export interface Scene {
  readonly send: (request: Request) => Promise<Answer>;
  /** Milliseconds. */
  readonly wait: (milliseconds: number) => Promise<void>;
  readonly addresses: () => Promise<readonly string[]>;
  /** The base addresses of the deployment, as its description names them, or else the one that is checked. */
  readonly bases: readonly string[];
  readonly key: string;
  readonly scopes: readonly string[] | undefined;
  /** What the service publishes of itself. */
  readonly published: { readonly answer: Answer; readonly document: Json | undefined };
  readonly description: Description;
  /** The category of the animals of this run: no other run has it, and no float holds it. */
  readonly category: bigint;
  /** A text of 16 characters that occurs once. */
  readonly unique: () => string;
}

/** One try. */
interface Attempt {
  readonly answer: Answer;
  readonly holds: boolean;
  readonly expected: string;
}

/** What a check works with. It collects what was expected and did not come. */
export class Probe {
  readonly scene: Scene;
  readonly findings: Finding[] = [];
  answers = 0;

  constructor(scene: Scene) {
    this.scene = scene;
  }

  /** @throws CheckEnded when there is no answer */
  async send(request: Request): Promise<Answer> {
    const answer = await this.trySending(request);
    if (!(answer instanceof NoAnswer)) return answer;
    const came = answer.message;
    this.findings.push({ request: describeRequest(request), expected: 'an answer', came });
    throw new CheckEnded();
  }

  async trySending(request: Request): Promise<Answer | NoAnswer> {
    try {
      const answer = await this.scene.send(request);
      this.answers++;
      return answer;
    } catch (error) {
      if (error instanceof NoAnswer) return error;
      throw error;
    }
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send({ method: 'GET', path, headers });
  }

  post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#withBody('POST', path, body, headers);
  }

  patch(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#withBody('PATCH', path, body, headers);
  }

  delete(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send({ method: 'DELETE', path, headers });
  }

  /** Notes a finding unless `holds`. */
  expect(answer: Answer, holds: boolean, expected: string, came = describeAnswer(answer)): boolean {
    if (!holds) this.findings.push({ request: describeRequest(answer.request), expected, came });
    return holds;
  }

  /** The same, and ends the check. @throws CheckEnded */
  require(answer: Answer, holds: boolean, expected: string, came?: string): void {
    if (!this.expect(answer, holds, expected, came)) throw new CheckEnded();
  }

  expectStatus(answer: Answer, status: number): boolean {
    return this.expect(answer, answer.status === status, String(status));
  }

  /** @throws CheckEnded */
  requireStatus(answer: Answer, status: number): void {
    this.require(answer, answer.status === status, String(status));
  }

  expectRefusal(answer: Answer, code: ErrorCode): boolean {
    const { status } = ERRORS[code];
    // Other rules say whether the body of a refusal is right.
    const sent = member(answer.json, 'code');
    return this.expect(
      answer,
      answer.status === status && (sent === code || !isKnown(sent)),
      `${status} ${code}`,
    );
  }

  /**
   * Like `expect`, for what others may change between two requests: it holds if it does at one of a few tries,
   * with `pause` milliseconds between two.
   */
  async expectAtLast(attempt: () => Promise<Attempt>, pause = 0): Promise<void> {
    for (let tries = 1; ; tries++) {
      const { answer, holds, expected } = await attempt();
      if (!holds && tries < 3) {
        if (pause > 0) await this.scene.wait(pause);
        continue;
      }
      this.expect(answer, holds, expected);
      return;
    }
  }

  /** Adds an animal of this run. It is deleted at the end. @throws CheckEnded */
  async addPet(
    fields: object = {},
  ): Promise<{ readonly answer: Answer; readonly id: bigint; readonly path: string }> {
    const pet = { name: `Check ${this.scene.unique()}`, categoryId: this.scene.category, ...fields };
    return this.add('/pets', pet);
  }

  /** Adds something that is deleted at the end. @throws CheckEnded */
  async add(
    collection: string,
    body: unknown,
  ): Promise<{ readonly answer: Answer; readonly id: bigint; readonly path: string }> {
    const answer = await this.post(collection, body);
    this.requireStatus(answer, 201);
    const id = member(answer.json, 'id');
    this.expect(answer, typeof id === 'bigint' && id > 0n, 'a positive id');
    if (typeof id !== 'bigint') throw new CheckEnded();
    return { answer, id, path: `${collection}/${id}` };
  }

  #withBody(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
    const text = body === undefined || typeof body === 'string' ? body : toJson(body);
    return this.send({ method, path, headers, body: text });
  }
}

const isKnown = (code: Json | undefined) => typeof code === 'string' && Object.hasOwn(ERRORS, code);
