import type { Scope } from '../domain/scope.ts';
import type { Finding } from './answer.ts';
import type { Probe } from './probe.ts';

/** A promise of the contract, and how to see from outside whether it holds. */
export interface Check {
  /** Of docs/contract/: `3.2`. */
  readonly section: string;
  /** What the contract says, as a short sentence. */
  readonly promise: string;
  /** Those that the key needs. */
  readonly scopes?: readonly Scope[];
  /** It adds or changes something. */
  readonly writes?: true;
  /** Ends early when what follows would make no sense. */
  readonly run: (probe: Probe) => Promise<void>;
}

/** What came of a promise. */
export interface Outcome {
  readonly section: string;
  readonly promise: string;
  readonly state: 'kept' | 'broken' | 'not checked';
  /** The answers that it was compared with. */
  readonly answers: number;
  /** Why it was not checked. */
  readonly reason?: string;
  readonly findings: readonly Finding[];
}
