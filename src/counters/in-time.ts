/** The promise's value, or a rejection after so many milliseconds. A later rejection is nobody's any more. */
export function inTime<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    // Only after what has arrived meanwhile is read: when this process was late itself, the answer may be here.
    const giveUp = () => setImmediate(() => reject(new Error(`no answer within ${milliseconds} ms`)));
    const timer = setTimeout(giveUp, milliseconds);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
