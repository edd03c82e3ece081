import { AsyncLocalStorage } from 'node:async_hooks';
import { Socket } from 'node:net';

/** The drivers of database and Redis, which are the only ones that connect to anything from the main thread. */
const DRIVERS = /\/node_modules\/(?:pg|@redis\/client)\//;

/** The connections that a service opens. The clients of a test, in the same process, run outside. */
const outgoing = new AsyncLocalStorage<string[]>();

const connect = Reflect.get(Socket.prototype, 'connect') as (...args: unknown[]) => Socket;

Object.assign(Socket.prototype, {
  connect(this: Socket, ...args: unknown[]) {
    const strays = outgoing.getStore();
    const stack = strays && new Error('connects').stack;
    if (stack !== undefined && !DRIVERS.test(stack)) strays?.push(stack);
    return Reflect.apply(connect, this, args);
  },
});

/**
 * Runs what starts a service. `strays` gets the stack of each connection that it, or anything that it began, opens to anything but
 * database and Redis.
 */
export function watchConnections<T>(strays: string[], start: () => T): T {
  return outgoing.run(strays, start);
}
