import { PetStoreError } from '../../domain/errors.ts';
import { StartupError } from '../../startup-error.ts';
import type { Pool, Session } from './pool.ts';

/** Lets only one service of an environment count by itself. A session holds the lock, so it ends with its process. */
export class ServingLock {
  readonly #pool: Pool;
  #environment: string | undefined;
  #session: Session | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** @throws StartupError when another service holds it. */
  async take(environment: string): Promise<void> {
    this.#environment = environment;
    const session = await this.#pool.reserve();
    if (await isLocked(session, `petstore ${environment}`)) {
      this.#session = session;
      return;
    }
    throw new StartupError(
      `Another petstore already serves ${environment} from this database: set REDIS_URL, for all to count together.`,
    );
  }

  /**
   * Takes a lock again that was found lost at the call before, so the caller hears of every loss.
   * @throws why this process does not hold it: `unavailable`, or as `take` does.
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
      throw new PetStoreError('unavailable', 'The connection that holds the lock for serving was lost.', {
        cause: error,
      });
    }
  }

  release(): void {
    this.#session?.close();
    this.#session = undefined;
  }
}

/** Closes a session that does not get the lock. */
async function isLocked({ database, close }: Session, name: string): Promise<boolean> {
  let locked = false;
  try {
    const [row] = await database.query<[boolean]>('SELECT pg_try_advisory_lock(hashtext($1))', [name]);
    locked = row?.[0] === true;
    return locked;
  } finally {
    if (!locked) close();
  }
}
