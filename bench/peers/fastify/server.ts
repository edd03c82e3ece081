import { argv } from 'node:process';
import { openSqlite } from '../sqlite.ts';
import { petstoreApp } from './app.ts';

// Run as `node server.ts PORT DATABASE_FILE`.

const [, , port, file = ''] = argv;
const app = await petstoreApp(openSqlite(file), {});
await app.listen({ port: Number(port), host: '127.0.0.1' });
