// Exits with 0 when the service with the variables of this process answers: `node bin/health.js /healthz`.
import { localAddress, origin } from '../src/config/addresses.ts';
import { readAddress } from '../src/config/config.ts';

const { host, port } = readAddress(process.env);
const { ok } = await fetch(localAddress(origin(host, port)) + process.argv[2]);
process.exitCode = ok ? 0 : 1;
