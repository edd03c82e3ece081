// Contract: sections 2 and 3.

import type { AuditChange, Actor } from './audit.ts';
import type { Patch } from './patch.ts';
import type { NewPet, Pet, PetPatch, PetStatus } from './pet.ts';
import type { Repeatable, Result } from './result.ts';

/*
 * What the domain needs of storage. Every method rejects with ServiceError `unavailable` when its store cannot
 * answer now (it is down, locked for too long, or its disk is full); nothing is half done then.
 */

export interface PetQuery {
  /** 1 to 100. */
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  readonly categoryId?: bigint | undefined;
  /** Only these animals: 1 to 100 ids in any order, some perhaps twice. */
  readonly ids?: readonly bigint[] | undefined;
  /** Only animals with a smaller id: where the page before ended. */
  readonly before?: bigint | undefined;
}

declare const content: unique symbol;

/** A value in the form in which clients get it. Only `written.ts` and the storage know this form. */
export type Written<T> = string & { readonly [content]: T };

/** A page of a list, newest first: descending id. */
export interface Page<T> {
  readonly items: Written<readonly T[]>;
  /** The id of the last one, when more follow it: where the next page begins. */
  readonly next: bigint | undefined;
}

export interface PetPage extends Page<Pet> {
  /** The response that the page became, kept with it, because the same page may be returned again. */
  response?: object | undefined;
}

/**
 * The SHA-256 of an `Idempotency-Key`, in hexadecimal. A client may send a secret in this header, so its value is not
 * stored (docs/decisions/0031).
 */
export type IdempotencyKeyHash = `sha256 ${string}`;

/** A write that clients may repeat: the same key and fingerprint of one account within 24 hours get one answer. */
export interface Idempotency {
  readonly accountId: number;
  readonly key: IdempotencyKeyHash;
  /** SHA-256 of the values in the path and the body, as they were sent. */
  readonly fingerprint: string;
  /** The status of the answer. */
  readonly status: number;
  /** The path of what the write adds, with `{id}` in place of its id. */
  readonly location: string | undefined;
}

export interface PetRepository {
  /** A page never changes: as long as nothing is written, the same object may be returned again. */
  list(query: PetQuery): Promise<PetPage>;
  get(id: bigint): Promise<Written<Pet> | undefined>;
  /** Resolves once the animal is on disk and visible to every list and get; idempotency record and animal commit together. */
  create(pet: NewPet, idempotency?: Idempotency): Promise<Repeatable<Pet>>;
}

export interface PetChanges {
  /**
   * `ifMatch`: the entity tags that `isCurrent` compares. `conflict`: the patch names the status, and the animal has an open order.
   * `invalid_request`: the patch has a fault.
   */
  update(
    id: bigint,
    patch: Patch<PetPatch>,
    ifMatch: readonly string[] | undefined,
  ): Promise<Result<Pet, 'not_found' | 'precondition_failed' | 'conflict' | 'invalid_request'>>;
  /** `conflict`: the animal has an open order. */
  delete(
    id: bigint,
    ifMatch: readonly string[] | undefined,
  ): Promise<Result<undefined, 'not_found' | 'precondition_failed' | 'conflict'>>;
}

/** Whole catalogues, for the command line. Ids are assigned in the order given. */
export interface PetArchive {
  /**
   * Adds animals in chunks as they arrive, and calls `onProgress` with the count so far after each commit. With `atomic`
   * it commits all of them at the end, and none when `pets` throws. Memory stays flat. Returns the count.
   */
  addAll(pets: AsyncIterable<NewPet>, options: AddAllOptions): Promise<number>;
  /** Every animal as of one instant, oldest first. */
  readAll(): AsyncIterable<Pet>;
}

export interface AddAllOptions {
  readonly atomic: boolean;
  readonly onProgress?: (count: number) => void;
  /**
   * Categories that `atomic` adds in its commit, with reserved ids. They are read when all animals have been given.
   * Rejects with ServiceError `conflict` when the name of one has been taken.
   */
  readonly categories?: readonly ReservedCategory[];
  /** The entry of the audit log for `atomic`, from the number of animals. No entry when there are none. */
  readonly entry?: { readonly actor: Actor; readonly changeOf: (animals: number) => AuditChange };
}

/** A category that is still to be added. */
export interface ReservedCategory {
  readonly id: bigint;
  readonly name: string;
}
