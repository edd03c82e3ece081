// Contract: sections 2, 3, 4 and 6.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { env, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import spectralCore from '@stoplight/spectral-core';
import owasp from '@stoplight/spectral-owasp-ruleset';

/*
 * Lints the committed description with Redocly's recommended rules, and with the OWASP rules for APIs in Spectral. A
 * warning counts as an error.
 */

/** The package declares the ruleset as its module, and exports no type of it. */
const { rules: OWASP } = owasp as unknown as { rules: Record<string, object> };
const FILE = fileURLToPath(new URL('../openapi.json', import.meta.url));
const RULESET = {
  extends: [[owasp, 'all']],
  rules: {
    // Ids are int64. They are not secret, because every key may list all animals.
    'owasp:api1:2023-no-numeric-ids': 'off',
    // A petId that is not an int64 gets 404, so the operation has no 400.
    'owasp:api8:2023-define-error-validation': 'off',
    // The rule refuses two families of rate headers, and the service sends both. A test finds them in every answer.
    'owasp:api4:2023-rate-limit': 'off',
    // Except int64, because JavaScript would round its bounds. The format implies them.
    'owasp:api4:2023-integer-limit': {
      ...OWASP['owasp:api4:2023-integer-limit'],
      given: '$..[?(@ && @.type == "integer" && @.format != "int64")]',
    },
    // The rule takes every property that is called headers for the headers of an answer.
    'owasp:api8:2023-define-cors-origin': {
      ...OWASP['owasp:api8:2023-define-cors-origin'],
      given: '$..responses[*].headers',
    },
  },
} as unknown as spectralCore.RulesetDefinition;

const spectral = new spectralCore.Spectral();
spectral.setRuleset(RULESET);
const issues = await spectral.run(readFileSync(FILE, 'utf8'));
for (const { code, path, message } of issues) console.error(`${code} at ${path.join('.')}: ${message}`);

// Without these, Redocly asks for newer versions and reports its use.
const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
const redocly = spawnSync(
  'redocly',
  ['lint', '--extends=recommended', '--max-problems=1000', '--format=stylish', FILE],
  {
    encoding: 'utf8',
    env: { ...env, ...quiet },
  },
);
if (redocly.error !== undefined) throw redocly.error;
const isClean = redocly.status === 0 && !/\bwarning/.test(redocly.stdout + redocly.stderr);
if (!isClean) console.error(redocly.stdout, redocly.stderr);
exit(isClean && issues.length === 0 ? 0 : 1);
