import { StartupError } from '../../startup-error.ts';
import { UnreachableError } from './connection.ts';
import type { Redis } from './redis.ts';
import type { Arguments, Script } from './script.ts';

interface LateParts {
  /** The name of the server while it is out of reach. */
  readonly name: string;
  /** Why it is out of reach. */
  readonly error: UnreachableError;
  /** Rejects with UnreachableError, or with another StartupError when the server must not be used. */
  readonly connect: () => Promise<Redis>;
  /** Called once for each reason not to use the server. */
  readonly onRefused: (error: StartupError) => void;
}

/**
 * A Redis that was out of reach when the service started. It behaves like one server that is down, until `reconnect`
 * reaches the server or cluster and finds it fit for use.
 */
export class LateRedis implements Redis {
  readonly #parts: LateParts;
  #error: Error;
  #refusal = '';
  #redis: Redis | undefined;
  #closed = false;

  constructor(parts: LateParts) {
    this.#parts = parts;
    this.#error = parts.error;
  }

  async run(script: Script, keys: readonly string[], args: Arguments): Promise<unknown> {
    return this.#reached().run(script, keys, args);
  }

  servers(): readonly string[] {
    return this.#redis?.servers() ?? [this.#parts.name];
  }

  serverOf(key: string): string {
    return this.#redis?.serverOf(key) ?? this.#parts.name;
  }

  groupOf(caller: string): string {
    return this.#redis?.groupOf(caller) ?? this.#parts.name;
  }

  async reconnect(server: string): Promise<void> {
    if (this.#redis !== undefined) return this.#redis.reconnect(server);
    try {
      this.#redis = await this.#parts.connect();
    } catch (error) {
      this.#note(error as Error);
      throw error;
    }
    if (this.#closed) this.#redis.close();
  }

  scan(pattern: string): AsyncIterable<string> {
    return this.#reached().scan(pattern);
  }

  close(): void {
    this.#closed = true;
    this.#redis?.close();
  }

  #reached(): Redis {
    if (this.#redis === undefined) throw this.#error;
    return this.#redis;
  }

  #note(error: Error): void {
    this.#error = error;
    if (!(error instanceof StartupError) || error instanceof UnreachableError) return;
    if (error.message !== this.#refusal) this.#parts.onRefused(error);
    this.#refusal = error.message;
  }
}
