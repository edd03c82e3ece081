export type Row = readonly unknown[];

/** Runs statements on any connection of a pool, or on one that holds a transaction. Rows are arrays, int8 is bigint. */
export interface Database {
  /**
   * A statement with a name is prepared once for each connection.
   * @throws PetStoreError `unavailable` when the server cannot answer now; whether it did what was asked is not known.
   */
  query<R extends Row>(text: string, values?: readonly unknown[], name?: string): Promise<R[]>;
}

/** A connection of its own, that the pool does not use for anything else until it is closed. */
export interface Session {
  readonly database: Database;
  readonly close: () => void;
}

export interface Pool extends Database {
  /** Runs `work` on one connection inside a transaction, which is rolled back when it throws. */
  transaction<T>(work: (database: Database) => Promise<T>, mode?: string): Promise<T>;
  reserve(): Promise<Session>;
  close(): Promise<void>;
}
