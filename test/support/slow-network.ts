import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Lifetime } from './lifetime.ts';

/**
 * The address of a server as it is seen over a network on which every packet is in flight for up to `milliseconds`:
 * on the loopback answers come too fast for requests to meet in between.
 */
export async function overSlowNetwork(t: Lifetime, address: string, milliseconds: number): Promise<string> {
  const { hostname, port } = new URL(address);
  const sockets = new Set<Socket>();
  const pass = (from: Socket, to: Socket) => {
    sockets.add(from);
    let last = Promise.resolve();
    from.on('data', (packet) => {
      const arrives = new Promise((resolve) => setTimeout(resolve, Math.random() * milliseconds));
      // Packets of one connection do not overtake each other.
      last = Promise.all([last, arrives]).then(() => void to.write(packet));
    });
    from.on('close', () => void last.then(() => to.destroy()));
    from.on('error', () => to.destroy());
  };
  const server = createServer({ noDelay: true }, (client) => {
    const distant = connect({ host: hostname, port: Number(port), noDelay: true });
    pass(client, distant);
    pass(distant, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const near = new URL(address);
  near.port = `${(server.address() as AddressInfo).port}`;
  return near.href;
}
