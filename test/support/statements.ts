import { Client } from 'pg';
import { Query } from '../../src/storage/sqlite/query.ts';
import { Writer } from '../../src/storage/sqlite/writer.ts';
import type { Lifetime } from './lifetime.ts';

/** The work that this process asks of databases. */
export interface Statements {
  /** Statements since the last `take`, and the rows that they gave. What the writing thread does for a write is one. */
  take(): { readonly statements: number; readonly rows: number };
  /** Called at each statement. */
  onStatement: () => void;
}

/** Counts the statements of all services in this process, until the lifetime ends. They run as before. */
export function countStatements(lifetime: Lifetime): Statements {
  let statements = 0;
  let rows = 0;
  const counting: Statements = {
    take() {
      const taken = { statements, rows };
      statements = 0;
      rows = 0;
      return taken;
    },
    onStatement: () => undefined,
  };
  const noteRows = (result: unknown) => {
    // One row is an array of its values.
    if (Array.isArray(result)) rows += Array.isArray(result[0]) ? result.length : Math.min(1, result.length);
    else if (typeof result === 'object' && result !== null && 'rows' in result) noteRows(result.rows);
  };
  const count = (prototype: object, name: string) => {
    const original: unknown = Reflect.get(prototype, name);
    if (typeof original !== 'function') throw new Error(`There is no method ${name}.`);
    const counted = function (this: unknown, ...parameters: unknown[]): unknown {
      statements++;
      counting.onStatement();
      const result: unknown = Reflect.apply(original, this, parameters);
      if (result instanceof Promise) void result.then(noteRows, () => undefined);
      else noteRows(result);
      return result;
    };
    Reflect.set(prototype, name, counted);
    lifetime.after(() => void Reflect.set(prototype, name, original));
  };
  count(Query.prototype, 'all');
  count(Query.prototype, 'get');
  count(Writer.prototype, 'run');
  count(Client.prototype, 'query');
  return counting;
}
