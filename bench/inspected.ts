import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Placement } from './placement.ts';
import { freePort, type Launch, type ServerProcess } from './processes.ts';
import { type PreparedService, startService } from './service.ts';

/** How long freed memory takes to go back to the system, in milliseconds. */
const RELEASE = 1_000;

/** What a process holds once its garbage is collected, in MiB. */
export interface Memory {
  /** Of physical memory, pages of files included: what `top` shows. */
  readonly resident: number;
  /** Without pages of files, which the system takes back when it needs them. */
  readonly anonymous: number;
}

/** The service as it runs in production, but for a port by which its garbage can be collected before it is weighed. */
export interface InspectedService extends ServerProcess {
  memory(signal: AbortSignal): Promise<Memory>;
}

export async function startInspected(
  prepared: PreparedService,
  launch: Launch & { place: Placement },
): Promise<InspectedService> {
  const port = await freePort();
  // Otherwise Node.js prints the inspector's address to standard error.
  const NODE_OPTIONS = `--inspect=127.0.0.1:${port} --inspect-publish-uid=http`;
  const server = await startService({ ...prepared, env: { ...prepared.env, NODE_OPTIONS } }, launch);
  return {
    ...server,
    async memory(signal) {
      await collectGarbage(port);
      await delay(RELEASE, undefined, { signal });
      return pagesOf(server.pid);
    },
  };
}

async function collectGarbage(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/json/list`);
  const [target] = (await response.json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.addEventListener('error', () => reject(new Error('The inspector of the service does not answer.')));
  socket.addEventListener('close', () => reject(new Error('The inspector of the service hung up.')));
  socket.addEventListener('open', () => socket.send('{"id":1,"method":"HeapProfiler.collectGarbage"}'));
  socket.addEventListener('message', ({ data }) => {
    const { id } = JSON.parse(String(data)) as { id?: number };
    if (id === 1) resolve();
  });
  try {
    await promise;
  } finally {
    socket.close();
  }
}

function pagesOf(pid: number): Memory {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const mebibytes = (field: string) =>
    Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(rollup)?.[1]) / 1024;
  return { resident: mebibytes('Rss'), anonymous: mebibytes('Anonymous') };
}
