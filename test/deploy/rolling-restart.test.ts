// A new version is brought out instance by instance (docs/design/http.md, Stop). Contract: section 4.
import assert from 'node:assert/strict';
import { issueKey, sharedServers } from '../support/instances.ts';
import { run, startServiceProcess } from '../support/process.ts';
import { isTorture, rounds } from '../support/rounds.ts';
import { freePort } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { CADDY, NGINX, startProxy } from '../support/shipped-proxies.ts';
import { test } from '../support/test.ts';

const INSTANCES = 3;

const CLIENTS = rounds(20, 4);

/** The file of Caddy has one service, so CI restarts three behind nginx alone. */
for (const proxy of isTorture ? [NGINX, CADDY] : [NGINX])
  test(`${proxy.name}: no accepted request is lost while ${INSTANCES} instances restart one after the other`, async (t) => {
    const variables = { ...(await sharedServers(t)), TRUST_PROXY: '127.0.0.1' };
    const { key } = await issueKey(variables);
    const ports: number[] = [];
    while (ports.length < INSTANCES) ports.push(await freePort());
    const start = (port: number) => startServiceProcess(t, { ...variables, PORT: `${port}` });
    const services = await Promise.all(ports.map(start));
    const { send } = await startProxy(t, proxy, ports);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    /** The names that were added, and how often an instance or the proxy refused. */
    const added: string[] = [];
    const counts = { answered: 0, refused: 0, unreached: 0 };
    const over = new AbortController();
    const note = ({ status, headers: fields }: Awaited<ReturnType<typeof send>>) => {
      if (status === 503) counts[fields['x-ratelimit-limit'] === undefined ? 'unreached' : 'refused']++;
      else counts.answered++;
      return status;
    };
    const client = async (number: number) => {
      for (let request = 0; !over.signal.aborted; request++) {
        const name = `${number}-${request}`;
        const list = note(await send('/v1/pets?limit=5', { headers }));
        assert.ok(list === 200 || (list === 503 && !proxy.passesOn), `a list was answered ${list}`);
        const body = `{"name":"${name}","categoryId":1}`;
        const create = note(await send('/v1/pets', { method: 'POST', headers, body }));
        assert.ok(create === 201 || create === 503, `a create was answered ${create}`);
        if (create === 201) added.push(name);
      }
    };
    const work = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
    work.catch(() => undefined);
    const more = async () => {
      const enough = added.length + 20;
      await until(() => added.length >= enough);
    };
    for (let round = 0; round < rounds(5); round++)
      for (const [index, port] of ports.entries()) {
        await more();
        services[index]?.child.kill('SIGTERM');
        assert.equal((await services[index]?.ended)?.code, 0);
        await more();
        services[index] = await start(port);
      }
    await more();
    over.abort();
    await work;
    t.diagnostic(JSON.stringify(counts));
    const { stdout } = await run(['export'], variables);
    const stored = Array.from(stdout.matchAll(/"name":"([^"]+)"/g), ([, name]) => name);
    assert.deepEqual(stored.toSorted(), added.toSorted());
  });
