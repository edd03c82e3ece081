// The listener of METRICS_PORT under attack. Contract: section 4.3.
import { connect } from 'node:net';
import { test } from 'node:test';
import { startTestService } from '../support/service.ts';

test('a client that pipelines metrics requests and reads nothing is closed', async (t) => {
  const service = await startTestService(t, {
    env: { METRICS_PORT: '0' },
    limits: { sendTimeout: 200, checkingInterval: 20 },
  });
  const url = new URL(String(service.log.find(({ msg }) => msg === 'metrics')?.['url']));
  const socket = connect(Number(url.port), '127.0.0.1').pause();
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  socket.write('GET /metrics HTTP/1.1\r\nHost: a.example\r\n\r\n'.repeat(5_000));
  // A client that does not read learns of the close when it writes.
  const writing = setInterval(() => socket.write('\r\n'), 50);
  t.after(() => {
    clearInterval(writing);
    socket.destroy();
  });
  await closed;
});
