/** Into so many parts a patience is divided. */
const PARTS = 8;

/** Nothing was heard in time; whatever was asked may be done all the same. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/**
 * The promise's value, or a rejection with NoAnswer after so many milliseconds. A later rejection is nobody's any more.
 * It waits in parts, and looks at what has arrived after each: when this process is late itself, what it is late by is
 * not held against the one that it waits for.
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
