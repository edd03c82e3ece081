import { argv } from 'node:process';
import { Redis } from 'ioredis';
import { petstoreApp } from '../fastify/app.ts';
import { openPostgres } from '../postgres.ts';

// The three operations as they are usually built where many instances share a database. Run as
// `node server.ts PORT DATABASE_URL REDIS_URL CONNECTIONS`.

const [, , port, databaseUrl = '', redisUrl = '', connections] = argv;
const app = await petstoreApp(openPostgres(databaseUrl, Number(connections)), {
  // Set up as the plugin's documentation says, with the pipelining that it offers.
  redis: new Redis(redisUrl, { enableAutoPipelining: true, connectTimeout: 500, maxRetriesPerRequest: 1 }),
  nameSpace: 'petstore-bench-conventional-',
});
await app.listen({ port: Number(port), host: '127.0.0.1' });
