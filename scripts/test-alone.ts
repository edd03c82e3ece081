/**
 * Files that have a process of their own, because they change or measure what a process has once. All others share a few
 * processes: to load the service again costs more than most files.
 */
const ALONE = new Set([
  // It leaves a log that writes to a descriptor, whose number the next file would get.
  'test/http/log-output.test.ts',
  // The client warns of an operation once in a process.
  'test/client/responses.test.ts',
]);

export function isAlone(file: string): boolean {
  return ALONE.has(file);
}
