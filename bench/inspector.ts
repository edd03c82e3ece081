import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../test/support/servers.ts';
import type { RunContext, ServerProcess } from './processes.ts';
import { type PreparedService, startService } from './service.ts';

/** Milliseconds until the system has the freed memory back. */
const RELEASE_TIME = 1_000;

/** The service as in production, with an inspector port. */
interface InspectedService extends ServerProcess {
  /** Collects the garbage and returns the resident memory in MiB. */
  usedMemory(): Promise<number>;
}

export async function startInspected(
  prepared: PreparedService,
  context: RunContext,
): Promise<InspectedService> {
  const port = await freePort();
  // With this publisher, Node.js does not print the inspector's address to standard error.
  const NODE_OPTIONS = `--inspect=127.0.0.1:${port} --inspect-publish-uid=http`;
  const server = await startService(prepared, context, { env: { NODE_OPTIONS } });
  return {
    ...server,
    async usedMemory() {
      await collectGarbage(port);
      await delay(RELEASE_TIME, undefined, { signal: context.signal });
      return server.residentMemory();
    },
  };
}

async function collectGarbage(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/json/list`);
  const [target] = (await response.json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  for (const event of ['error', 'close'] as const) {
    socket.addEventListener(event, () => reject(new Error('The inspector of the service does not answer.')));
  }
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
