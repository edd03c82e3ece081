import { program } from './servers.ts';

/** @throws MissingProgram */
export function findZsh(): string {
  return program('zsh', 'zsh');
}

/** @throws MissingProgram */
export function findFish(): string {
  return program('fish', 'fish');
}
