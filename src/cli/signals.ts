import { readFileSync } from 'node:fs';

/** Calls `stop` at the first signal to end. The second one has no handler, so it ends the process at once. Returns what removes it. */
export function onSignal(stop: (signal: NodeJS.Signals) => void): () => void {
  const signals: readonly NodeJS.Signals[] = [
    'SIGTERM',
    'SIGINT',
    ...(ignoresHangup() ? [] : ['SIGHUP' as const]),
  ];
  const remove = () => {
    for (const signal of signals) process.off(signal, once);
  };
  const once = (signal: NodeJS.Signals) => {
    remove();
    stop(signal);
  };
  for (const signal of signals) process.on(signal, once);
  return remove;
}

/** Resolves at the first signal to end. */
export function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    onSignal(() => resolve());
  });
}

/** Whether the process was started to outlive its terminal, by `nohup`: a handler would undo that. Only Linux tells. */
function ignoresHangup(): boolean {
  try {
    const [, ignored = '0'] =
      /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    return (BigInt(`0x${ignored}`) & 1n) === 1n;
  } catch {
    return false;
  }
}
