import type { Answer, SentRequest } from './instance.ts';
import type { SimulatedProcess } from './scheduler.ts';

/** A request of a client, with all that the client knows of it. Instants are milliseconds of the run. */
export interface Call {
  readonly client: string;
  readonly process: SimulatedProcess;
  readonly request: SentRequest;
  readonly accountId: number;
  readonly keyId: number;
  readonly began: number;
  /** Infinite while there is no answer: then nobody knows what became of it. */
  ended: number;
  /** When the client waited no longer. */
  left: number;
  answer: Answer | undefined;
}

/** Something that goes wrong in the world from one instant to another. */
export interface Trouble {
  readonly kind: 'stall' | 'disk' | 'redis' | 'end' | 'clock' | 'network';
  /** Undefined: of all processes. */
  readonly process: SimulatedProcess | undefined;
  readonly from: number;
  to: number;
}

/** An event as a follower got it. */
export interface FollowedEvent {
  readonly id: string;
  readonly type: string;
  readonly version?: number;
  readonly data: { readonly id?: number; readonly [name: string]: unknown };
}

export interface Follower {
  readonly name: string;
  readonly accountId: number;
  readonly events: FollowedEvent[];
}

/** A change of a webhook that is in force from its answer on. */
export interface WebhookChange {
  readonly webhookId: number;
  readonly kind: 'created' | 'disabled' | 'enabled' | 'rotated' | 'deleted';
  readonly process: SimulatedProcess;
  readonly began: number;
  readonly ended: number;
  readonly secret?: string;
}

/** An account that an operator has suspended. */
interface Suspension {
  readonly accountId: number;
  /** When the operator was told. */
  readonly from: number;
  /** When the operator began to end it. */
  readonly to: number;
}

/** All that happened in a run. */
export interface History {
  /** When processes started. */
  readonly starts: number[];
  readonly calls: Call[];
  readonly troubles: Trouble[];
  readonly followers: Follower[];
  readonly webhookChanges: WebhookChange[];
  readonly suspensions: Suspension[];
}

export const newHistory = (): History => ({
  starts: [],
  calls: [],
  troubles: [],
  followers: [],
  webhookChanges: [],
  suspensions: [],
});
