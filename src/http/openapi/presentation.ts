// Contract: section 9.
import { codeSamples } from './samples.ts';
import type { OperationObject, Paths, Stability } from './types.ts';

const BADGES: Readonly<Record<Stability, { readonly name: string; readonly color: string }>> = {
  experimental: { name: 'Experimental', color: '#8a3ffc' },
  beta: { name: 'Beta', color: '#0b63c5' },
};

/**
 * The operations with what the reference shows besides: the removal date of a deprecated one as a banner, its stability as a badge, and how it is called at the base address `base`.
 */
export function presented(paths: Paths, base: string): Paths {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item).map(([method, its]) => [method, presentedOperation(its, base)]),
      ),
    ]),
  );
}

function presentedOperation(operation: OperationObject, base: string): OperationObject {
  const { description, operationId } = operation;
  const sunset = operation['x-deprecated-sunset'];
  const stability = operation['x-stability'];
  return {
    ...operation,
    description: sunset === undefined ? description : `${banner(sunset)}\n\n${description}`,
    ...(stability !== undefined && { 'x-badges': [BADGES[stability]] }),
    'x-codeSamples': codeSamples(operationId, base),
  };
}

/** An alert, as Markdown writes it. */
function banner(sunset: string): string {
  return `> [!WARNING]\n> **Deprecated.** This operation will be removed on **${sunset}**.`;
}
