// Contract: section 8.
import { CommanderError } from 'commander';
import { ConfigError } from '../config.ts';
import { PetStoreError } from '../domain/errors.ts';
import { StartupError } from '../startup-error.ts';

/** What a command that ended in an error says on standard error, and its exit code. */
export interface Failure {
  readonly lines: readonly string[];
  /** 0: only help was asked for. 1: failed. 2: wrong use. */
  readonly exitCode: 0 | 1 | 2;
}

/** One line for each thing that is wrong; only what nobody foresaw shows its stack. */
export function failureOf(error: unknown): Failure {
  // Commander has written its line already.
  if (error instanceof CommanderError) return { lines: [], exitCode: error.exitCode === 0 ? 0 : 2 };
  if (error instanceof ConfigError) return { lines: error.message.split('\n'), exitCode: 2 };
  if (error instanceof StartupError) return { lines: [error.message], exitCode: 1 };
  if (error instanceof PetStoreError) {
    return { lines: [withCause(error)], exitCode: error.code === 'invalid_parameter' ? 2 : 1 };
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { lines: `unexpected error, please report it: ${stack}`.split('\n'), exitCode: 1 };
}

/** Callers of the API are not told why a store is down, but the operator at the terminal is. */
function withCause({ code, message, cause }: PetStoreError): string {
  return code === 'unavailable' && cause instanceof Error ? `${message} (${cause.message})` : message;
}
