// Contract: section 10.
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { ServiceError } from '../domain/errors.ts';
import type { Operator } from '../domain/operator.ts';
import { listed } from '../domain/parse.ts';
import { instantOrNull } from '../domain/instant.ts';
import { existingOperator, linkAddress, makeLink } from '../management/operators.ts';
import type { Store } from '../resources/repositories.ts';
import { withStore } from './context.ts';
import { JSON_OPTION, type JsonOption } from '../terminal/options.ts';
import { printJson, printLine } from '../terminal/output.ts';

interface ConsoleOptions extends JsonOption {
  readonly as?: string;
}

const NOTES = `
The link begins with CONSOLE_URL. Without it, the address comes from CONSOLE_HOST and CONSOLE_PORT, by default port 8081.

Example:
  petstore console --as ada`;

export function consoleCommand(program: Command): void {
  program
    .command('console')
    .description('print a link that signs in to the console once within 10 minutes')
    .option('--as <name>', 'the operator; needed when there are several')
    .option(...JSON_OPTION)
    .addHelpText('after', NOTES)
    .action(printLink);
}

function printLink({ as: name, json }: ConsoleOptions): Promise<void> {
  return withStore(async ({ config, store: { operators }, actor }) => {
    const operator =
      name === undefined ? await onlyOperator(operators) : await existingOperator(operators, name);
    const made = await makeLink(operators, actor, randomBytes, operator);
    const link = linkAddress(config.consoleUrl, made.secret);
    if (json) return printJson({ operator: operator.name, link, expiresAt: instantOrNull(made.expiresAt) });
    printLine(`This link signs in as ${operator.name} (${operator.role}), once within 10 minutes:`);
    printLine('');
    printLine(`  ${link}`);
  });
}

/** @throws ServiceError `not_found` when there is none, `invalid_parameter` when there are several. */
async function onlyOperator(operators: Store['operators']): Promise<Operator> {
  const [first, ...others] = await operators.list();
  if (first === undefined)
    throw new ServiceError(
      'not_found',
      'There is no operator yet: create one with petstore operators create NAME --role admin.',
    );
  if (others.length === 0) return first;
  const names = [first, ...others].map(({ name }) => name);
  throw new ServiceError('invalid_parameter', `The operators are ${listed(names)}: name one with --as.`);
}
