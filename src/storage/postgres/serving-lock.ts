import { ServiceError } from '../../domain/errors.ts';
import { StartupError } from '../../domain/startup-error.ts';
import type { Connections, Session } from './connections.ts';
import { LOCK_NOT_AVAILABLE, sqlState } from './errors.ts';

/** Lets only one service of an environment count by itself. A session holds the lock, so it ends with its process. */
export class ServingLock {
  readonly #pool: Connections;
  #environment: string | undefined;
  #session: Session | undefined;

  constructor(pool: Connections) {
    this.#pool = pool;
  }

  /** @throws StartupError when another service holds it for longer than a second. */
  async take(environment: string): Promise<void> {
    this.#environment = environment;
    const session = await this.#pool.reserve();
    try {
      // It waits for a moment: of a service that has just ended, the server may not yet have closed the session.
      await session.database.query('SELECT pg_advisory_lock(hashtext($1))', [`petstore ${environment}`]);
      this.#session = session;
    } catch (error) {
      session.close();
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
      throw new StartupError(
        `Another petstore already serves ${environment} from this database: stop it first, or set REDIS_URL so that all instances count together.`,
      );
    }
  }

  /**
   * Rejects when the lock is lost, and the next call takes it again, so the caller notices every loss.
   * @throws the reason why this process does not hold the lock: `unavailable`, or as `take` does.
   */
  async check(): Promise<'kept' | 'retaken'> {
    if (this.#environment === undefined) return 'kept';
    if (this.#session === undefined) {
      await this.take(this.#environment);
      return 'retaken';
    }
    try {
      await this.#session.database.query('SELECT 1');
      return 'kept';
    } catch (error) {
      this.release();
      throw new ServiceError('unavailable', 'The connection that holds the lock for serving was lost.', {
        cause: error,
      });
    }
  }

  release(): void {
    this.#session?.close();
    this.#session = undefined;
  }
}
