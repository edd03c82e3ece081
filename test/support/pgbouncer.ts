import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lifetime } from './lifetime.ts';
import { freePort, listening, program, runServer, serverFolder, serverUser } from './servers.ts';
import { TEMPORARY } from './temporary.ts';

/** The address of a database through a PgBouncer, which pools whole sessions and takes no settings of clients. */
export async function throughPgBouncer(t: Lifetime, databaseUrl: string): Promise<string> {
  const command = program('pgbouncer', 'pgbouncer', { name: 'PgBouncer', folders: ['/usr/sbin'] });
  const { hostname, port: serverPort, pathname, username } = new URL(databaseUrl);
  const user = serverUser();
  const folder = serverFolder('pgbouncer', TEMPORARY, user);
  const port = await freePort();
  const [settings, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users')];
  writeFileSync(users, `"${username}" ""\n`);
  writeFileSync(
    settings,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = session
`,
  );
  const url = `postgres://${username}@127.0.0.1:${port}${pathname}`;
  const server = await runServer({
    port,
    url,
    folder,
    command,
    args: ['--quiet', settings],
    ...(user && { user }),
    ready: () => listening(port),
  });
  t.after(() => server.stop());
  return url;
}
