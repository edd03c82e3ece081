// Contract: section 10.1.
import type { IncomingHttpHeaders } from 'node:http';
import type { Environment } from '../../domain/api-key.ts';
import { SESSION_LIFETIME } from '../../domain/operator.ts';
import { type Fields, fields } from 'direct-http';

/** The cookie that holds the secret of a session. No script can read it, and no other site can send it. */
export class SessionCookie {
  readonly #name: string;
  readonly #attributes: string;

  /**
   * Browsers send a `__Host-` cookie over https only, and only to the host that set it. They send it to every port of the
   * host, so the consoles of two environments on one host need two names, and all instances of one share theirs.
   */
  constructor({ isSecure, environment }: { readonly isSecure: boolean; readonly environment: Environment }) {
    const name = environment === 'production' ? 'petstore_console' : `petstore_console_${environment}`;
    this.#name = isSecure ? `__Host-${name}` : name;
    this.#attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  }

  read({ cookie }: IncomingHttpHeaders): string | undefined {
    const prefix = `${this.#name}=`;
    return cookie
      ?.split(/; */)
      .find((pair) => pair.startsWith(prefix))
      ?.slice(prefix.length);
  }

  set(secret: string): Fields {
    return this.#written(secret, SESSION_LIFETIME / 1_000);
  }

  clear(): Fields {
    return this.#written('', 0);
  }

  #written(value: string, seconds: number): Fields {
    return fields('Set-Cookie', `${this.#name}=${value}; Max-Age=${seconds}; ${this.#attributes}`);
  }
}
