import { argv } from 'node:process';
import type { FastifyInstance } from 'fastify';
import { Redis } from 'ioredis';
import { petstoreApp } from './app.ts';
import { addChanges } from './changes.ts';
import { openPostgres } from './postgres.ts';
import { openDatabase, sqliteStore } from './sqlite.ts';

// The operations as they are usually built. Run as `node server.ts PORT DATABASE_FILE`, or, where many instances share a
// database, as `node server.ts PORT DATABASE_URL REDIS_URL CONNECTIONS`.

const [, , port, database = '', redisUrl, connections] = argv;
const app = redisUrl === undefined ? await overSqlite() : await overPostgres(redisUrl);
await app.listen({ port: Number(port), host: '127.0.0.1' });

async function overSqlite(): Promise<FastifyInstance> {
  const db = openDatabase(database);
  const its = await petstoreApp(sqliteStore(db), {});
  addChanges(its, db);
  return its;
}

function overPostgres(url: string): Promise<FastifyInstance> {
  return petstoreApp(openPostgres(database, Number(connections)), {
    // Set up as the plugin's documentation says, with the pipelining that it offers.
    redis: new Redis(url, { enableAutoPipelining: true, connectTimeout: 500, maxRetriesPerRequest: 1 }),
    nameSpace: 'petstore-bench-conventional-',
  });
}
