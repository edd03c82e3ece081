import { freePort, listening, program, runServer, serverFolder, type TestServer } from './servers.ts';

/** A Redis server of the tests' own, which keeps nothing on disk. */
export async function startRedis(options: readonly string[] = []): Promise<TestServer> {
  const folder = serverFolder('redis');
  const port = await freePort();
  const args = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'no',
  ];
  return runServer({
    port,
    url: `redis://127.0.0.1:${port}`,
    folder,
    command: program('redis-server', 'redis-server'),
    args: [...args, ...options],
    ready: () => listening(port),
  });
}
