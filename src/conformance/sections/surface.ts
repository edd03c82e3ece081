// Contract: section 1.
import type { Check } from '../check.ts';

/** Path, status, and what its `Content-Type` begins with. */
const PAGES: readonly (readonly [path: string, status: number, type: string])[] = [
  ['/', 302, ''],
  ['/reference', 200, 'text/html'],
  ['/dashboard', 200, 'text/html'],
  ['/reference.md', 200, 'text/markdown'],
  ['/llms.txt', 200, 'text/plain'],
  ['/openapi.json', 200, 'application/json'],
  ['/openapi.yaml', 200, 'application/yaml'],
  ['/.well-known/api-catalog', 200, 'application/linkset+json'],
  ['/favicon.svg', 200, 'image/svg+xml'],
  ['/robots.txt', 200, 'text/plain'],
  ['/healthz', 200, 'application/json'],
  ['/readyz', 200, 'application/json'],
];

export const SURFACE: readonly Check[] = [
  {
    section: '1.3',
    promise: 'pages, descriptions and probes answer without a key',
    run: async (probe) => {
      for (const [path, status, type] of PAGES) {
        const answer = await probe.send({ method: 'GET', path, isPage: true });
        const came = answer.headers['content-type'] ?? 'no Content-Type';
        if (status === 302)
          probe.expect(
            answer,
            answer.status >= 300 &&
              answer.status < 400 &&
              (answer.headers['location'] ?? '').endsWith('/reference'),
            'a redirect to /reference',
            `${answer.status}`,
          );
        else
          probe.expect(
            answer,
            answer.status === status && came.startsWith(type),
            `${status} with ${type}`,
            `${answer.status} with ${came}`,
          );
      }
    },
  },
  {
    section: '1.3',
    promise: 'metrics are not on the public port',
    run: async (probe) => {
      const answer = await probe.send({ method: 'GET', path: '/metrics', isPage: true });
      probe.expect(answer, answer.status >= 400, '404', `${answer.status}`);
    },
  },
  {
    section: '1.4',
    promise: 'an unknown path is 401 without a key and 404 with one',
    run: async (probe) => {
      const path = '/no-such-path';
      probe.expectRefusal(await probe.send({ method: 'GET', path, key: null }), 'unauthorized');
      probe.expectRefusal(await probe.get(path), 'not_found');
    },
  },
  {
    section: '4.2',
    promise: 'a method that a path does not take is 405',
    run: async (probe) => {
      const answer = await probe.get('/store/orders/1/complete');
      probe.expectRefusal(answer, 'method_not_allowed');
      probe.expect(
        answer,
        /\bPOST\b/.test(answer.headers['allow'] ?? 'POST'),
        'Allow with POST',
        answer.headers['allow'],
      );
    },
  },
];
