import { argv } from 'node:process';
import { Redis } from 'ioredis';
import { petstoreApp } from './app.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

// The operations as they are usually built. Run as `node server.ts PORT DATABASE_FILE`, or, where many instances share a
// database, as `node server.ts PORT DATABASE_URL REDIS_URL CONNECTIONS`.

const [, , port, database = '', redisUrl, connections] = argv;
const app =
  redisUrl === undefined
    ? await petstoreApp(openSqlite(database), {})
    : await petstoreApp(openPostgres(database, Number(connections)), {
        // Set up as the plugin's documentation says, with the pipelining that it offers.
        redis: new Redis(redisUrl, {
          enableAutoPipelining: true,
          connectTimeout: 500,
          maxRetriesPerRequest: 1,
        }),
        nameSpace: 'petstore-bench-conventional-',
      });
await app.listen({ port: Number(port), host: '127.0.0.1' });
