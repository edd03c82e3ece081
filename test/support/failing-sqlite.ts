/*
 * Loaded into a process before `petstore` (storage-faults.ts). One call of SQLite or of the file system fails, in the process or
 * in one of its threads.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { FAULT_KIND as kind, isChosen, killThisProcess } from './fault-counter.ts';

type Method = (this: object, ...args: unknown[]) => unknown;

/** A disk that is full refuses these. */
const WRITES = /\b(?:INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER|VACUUM|COMMIT)\b/i;

/** SQLite never fails to roll back. */
const ROLLBACK = /^\s*ROLLBACK\b/i;

/** Whether this call is to fail: of a full disk, only one that writes. */
const fails = (isWrite: boolean) => (kind !== 'full' || isWrite) && isChosen();

/** Fails as SQLite does. A full disk makes SQLite undo the whole transaction. */
function failStatement(sql: string, db: DatabaseSync | undefined): void {
  // Memory does not fail.
  if (db?.isOpen === true && db.location() === null) return;
  if (ROLLBACK.test(sql) || !fails(WRITES.test(sql))) return;
  if (kind === 'kill') killThisProcess();
  if (kind === 'full' && db?.isOpen === true && db.isTransaction) execute.call(db, 'ROLLBACK');
  const [errcode, errstr] = kind === 'full' ? [13, 'database or disk is full'] : [10, 'disk I/O error'];
  throw Object.assign(new Error(errstr), { code: 'ERR_SQLITE_ERROR', errcode, errstr });
}

function failFile(syscall: string): void {
  if (!fails(true)) return;
  if (kind === 'kill') killThisProcess();
  const [errno, code, text] =
    kind === 'full' ? [-28, 'ENOSPC', 'no space left on device'] : [-5, 'EIO', 'i/o error'];
  throw Object.assign(new Error(`${code}: ${text}, ${syscall}`), { errno, code, syscall });
}

/** Puts a function in the place of a method, which it gets. */
function replaceMethod(owner: object, name: string, replace: (method: Method) => Method): void {
  Object.assign(owner, { [name]: replace(Reflect.get(owner, name) as Method) });
}

/** Puts a function that calls `before` first in the place of a method. */
function precede(owner: object, name: string, before: (caller: object, args: readonly unknown[]) => void) {
  replaceMethod(
    owner,
    name,
    (method) =>
      function (...args) {
        before(this, args);
        return method.apply(this, args);
      },
  );
}

const execute = Reflect.get(DatabaseSync.prototype, 'exec') as Method;
const connections = new WeakMap<object, DatabaseSync>();

precede(DatabaseSync.prototype, 'exec', (db, [sql]) => failStatement(String(sql), db as DatabaseSync));
replaceMethod(
  DatabaseSync.prototype,
  'prepare',
  (prepare) =>
    function (...args) {
      // Preparing reads.
      failStatement('', this as DatabaseSync);
      const statement = prepare.apply(this, args) as StatementSync;
      connections.set(statement, this as DatabaseSync);
      return statement;
    },
);
const failCall = (caller: object) =>
  failStatement((caller as StatementSync).sourceSQL, connections.get(caller));
for (const name of ['run', 'get', 'all']) precede(StatementSync.prototype, name, failCall);
replaceMethod(
  StatementSync.prototype,
  'iterate',
  (iterate) =>
    function (...args) {
      const rows = iterate.apply(this, args) as object;
      precede(rows, 'next', () => failCall(this));
      return rows;
    },
);

for (const name of ['copyFileSync', 'linkSync', 'renameSync', 'fsyncSync'])
  precede(fs, name, () => failFile(name.replace('Sync', '').toLowerCase()));
/** A function that returns a promise rejects. */
function precedeAsync(owner: object, name: string): void {
  replaceMethod(
    owner,
    name,
    (method) =>
      async function (...args) {
        failFile(name);
        return method.apply(this, args);
      },
  );
}
const handle = await fs.promises.open(process.execPath);
precedeAsync(Object.getPrototypeOf(handle) as object, 'sync');
await handle.close();
precedeAsync(fs.promises, 'rename');
syncBuiltinESMExports();
