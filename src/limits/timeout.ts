/** Timers that a timeout is split into. Between two of them, the event loop reads the answers that have arrived. */
const TIMERS = 8;

/** No answer came in time. The server may still do what it was asked. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/**
 * The promise's value, or a rejection with NoAnswer after `milliseconds`. A later rejection is ignored. Several timers
 * share the time, so a stalled event loop does not count as a timeout.
 */
export function withTimeout<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let left = TIMERS;
    let timer: NodeJS.Timeout;
    const wait = () => {
      timer = setTimeout(() => {
        left--;
        if (left > 0) wait();
        else setImmediate(() => reject(new NoAnswer(`no answer within ${milliseconds} ms`)));
      }, milliseconds / TIMERS);
    };
    wait();
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
