/*
 * Loaded into a process before `petstore` (storage-faults.ts). One of its statements to PostgreSQL fails, as the network or the
 * server lets it fail.
 */
import { Client, type Connection } from 'pg';
import { FAULT_KIND, isChosen, killThisProcess } from './fault-counter.ts';

type Query = (this: Client, ...args: unknown[]) => Promise<unknown>;

/** The server reports it, and the transaction is aborted. */
const DISK_FULL = `DO $$ BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`;

const query = Reflect.get(Client.prototype, 'query') as Query;

/** The connection is gone, for both sides. */
function cut(client: Client): void {
  (client as Client & { readonly connection: Connection }).connection.stream.destroy();
}

const failing: Query = async function (...args) {
  if (!isChosen()) return query.apply(this, args);
  if (FAULT_KIND === 'kill') killThisProcess();
  if (FAULT_KIND === 'full') return query.call(this, DISK_FULL);
  if (FAULT_KIND === 'lost') cut(this);
  const result = await query.apply(this, args);
  if (FAULT_KIND !== 'unanswered') return result;
  cut(this);
  throw new Error('Connection terminated unexpectedly');
};

Reflect.set(Client.prototype, 'query', failing);
