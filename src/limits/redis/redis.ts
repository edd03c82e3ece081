import type { Arguments, Script } from './script.ts';

/** Redis 7 or Valkey, alone or as a cluster. */
export interface Redis {
  /** Runs a script in one round trip, or in two when the server has not seen it yet. All keys lie in one hash slot. */
  run(script: Script, keys: readonly string[], args: Arguments): Promise<unknown>;
  /** The name of the server, or of each primary of a cluster. */
  servers(): readonly string[];
  /** The name of the server that holds a key. */
  serverOf(key: string): string;
  /** Callers with the same group can share one script. */
  groupOf(caller: string): string;
  /** Replaces the connection to a server. */
  reconnect(server: string): Promise<void>;
  /** Every key that matches a pattern, on all servers. A key may come twice. */
  scan(pattern: string): AsyncIterable<string>;
  close(): void;
}
