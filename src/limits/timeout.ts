/** Timers that a timeout is split into. */
const PARTS = 8;

/** There was no answer in time. What was asked may still be done. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/**
 * The promise's value, or a rejection with NoAnswer after `milliseconds`. A later rejection is ignored. The time is waited
 * for in parts, and answers are read between them, so a stalled event loop does not count as a timeout.
 */
export function withTimeout<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let left = PARTS;
    let timer: NodeJS.Timeout;
    const wait = () => {
      timer = setTimeout(() => {
        left--;
        if (left > 0) wait();
        else setImmediate(() => reject(new NoAnswer(`no answer within ${milliseconds} ms`)));
      }, milliseconds / PARTS);
    };
    wait();
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
