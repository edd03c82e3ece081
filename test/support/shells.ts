import { program } from './servers.ts';

/** @throws Error that says how to install it. */
export function findZsh(): string {
  return program('zsh', 'zsh');
}

/** @throws Error that says how to install it. */
export function findFish(): string {
  return program('fish', 'fish');
}
