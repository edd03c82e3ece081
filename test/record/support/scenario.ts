import type { KeyOptions } from '../../support/service.ts';

/**
 * A request of a scenario. In its texts, `$name` stands for a saved value: an API key, a token, or a part of an earlier
 * response.
 */
export interface Step {
  /** `GET /v1/pets?limit=2`. */
  readonly send?: string;
  /** Instead of `send` and all else: the bytes on the wire, one character a byte. They end the connection by themselves. */
  readonly raw?: string;
  /** Another listener than that of the scenario. */
  readonly listener?: 'public' | 'console';
  /** Whose bearer credentials are sent: a name that is saved, or null for nobody. By default those of the scenario. */
  readonly as?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is, anything else as JSON. With a `Content-Type` of JSON unless a header says otherwise. */
  readonly body?: unknown;
  /** Saves the first group of an expression in the response under a name. */
  readonly save?: Readonly<Record<string, RegExp>>;
  /** Milliseconds that pass before the request. */
  readonly pass?: number;
  /** How often it is sent; only the last response is recorded. */
  readonly times?: number;
  /** Stops the service before, and starts it again on the same stores. */
  readonly restart?: true;
  /** What is done to the database before, behind the back of the service. */
  readonly sql?: string;
  /** Takes the database away before, or gives it back. */
  readonly loseDatabase?: boolean;
  /** Repeats the request until it gets this status, because work in the background changes it. */
  readonly until?: number;
  /** Whether the response has no body, and the tag of one that is random. */
  readonly isTagRandom?: true;
  /** Whether a large body is recorded, too, and not only its hash. */
  readonly isWhole?: true;
  /** Only on this back end. With Redis, no test can move the clock that counts. */
  readonly only?: 'sqlite';
}

export type Row = readonly [name: string, step: string | Step];

export interface Scenario {
  /** The name of its fixture. */
  readonly name: string;
  /** The listener that is asked. By default the public one. */
  readonly listener?: 'public' | 'console';
  /** API keys by name. They are made in this order. By default one with the name `key` and limits that nobody reaches. */
  readonly keys?: Readonly<Record<string, KeyOptions>>;
  /** Operators with a token each, by name. */
  readonly operators?: Readonly<Record<string, 'admin' | 'viewer'>>;
  /** Whose credentials are sent by default: the first key, or the first operator on the console's listener. */
  readonly as?: string | null;
  readonly env?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, number>>;
  /** Whether the rate headers are the subject: then each is recorded. */
  readonly isAboutLimits?: true;
  /** Whether the bodies of its 200s may change in any byte. */
  readonly hasOtherBodies?: true;
  /** When it happens. */
  readonly start?: string;
  /** The requests, in their order. */
  readonly rows: readonly Row[];
}
