// Contract: section 10.1.
import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import type { Environment } from '../../domain/api-key.ts';
import type { Actor } from '../../domain/audit.ts';
import type { Operator } from '../../domain/operator.ts';
import type { Failure, Result } from '../../domain/result.ts';
import type { SignedChallenge } from '../../http/auth/signed-challenge.ts';
import type { Session } from '../operators/repository.ts';
import type { PasskeyRepository } from './repository.ts';
import { CHALLENGE_LIFETIME, MOST_PASSKEYS, NO_ROOM, type Passkey } from './rules.ts';
import type { NewCredential } from './schema.ts';
import { ALGORITHMS, readNewPasskey, readSignature } from './webauthn.ts';

const PUBLIC_KEY = 'public-key';

const NEEDS_NAME = {
  error: 'invalid_request',
  message:
    'Passkeys need a host name: open the console at localhost, or set CONSOLE_URL to an https address with a name.',
} as const;

export type Ceremonies = ReturnType<typeof createCeremonies>;

/**
 * How browsers add passkeys and sign in with them (WebAuthn). `origin` is that of the console as the browser names it, and
 * the passkey belongs to its host.
 */
export function createCeremonies(passkeys: PasskeyRepository, environment: Environment) {
  return {
    /** What `navigator.credentials.create` needs. `invalid_request`: the host is an IP address. `conflict`: there are 20. */
    async beginAdding(operator: Operator, origin: string) {
      const host = relyingParty(origin);
      if (host === undefined) return NEEDS_NAME;
      const added = await passkeys.credentials(operator.id);
      // Now, because an authenticator would keep a passkey that is refused later.
      if (added.length >= MOST_PASSKEYS) return NO_ROOM;
      const challenge = await passkeys.makeChallenge(operator.id);
      const value = {
        challenge: challenge.toString('base64url'),
        rp: {
          name: environment === 'production' ? 'Pet Store' : `Pet Store ${environment}`,
          id: host,
        },
        user: { id: userHandle(operator, environment), name: operator.name, displayName: operator.name },
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: PUBLIC_KEY })),
        timeout: CHALLENGE_LIFETIME,
        attestation: 'none',
        excludeCredentials: added.map(({ credential }) => ({ id: credential, type: PUBLIC_KEY })),
        authenticatorSelection: {
          residentKey: 'required',
          // Only WebAuthn Level 1 reads this.
          requireResidentKey: true,
          userVerification: 'required',
        },
      };
      return { value };
    },

    /** Adds the passkey that a browser made. `invalid_request`: it was made for another place, or answers no challenge. */
    async add(
      actor: Actor,
      operator: Operator,
      name: string,
      answer: NewCredential,
      origin: string,
    ): Promise<Result<Passkey, 'unauthorized' | 'invalid_request' | 'conflict'>> {
      const host = relyingParty(origin);
      if (host === undefined) return NEEDS_NAME;
      const read = readNewPasskey(answer, { origin, host });
      if ('error' in read) return read;
      const { credential, challenge } = read.value;
      // The transaction uses the challenge up, so that an answer counts once.
      return passkeys.create(actor, operator.id, name, credential, challenge);
    },

    /** What `navigator.credentials.get` needs. `invalid_request`: the host is an IP address. */
    async beginSignIn(origin: string): Promise<{ readonly value: object } | Failure<'invalid_request'>> {
      const host = relyingParty(origin);
      if (host === undefined) return NEEDS_NAME;
      const challenge = await passkeys.makeChallenge();
      const value = {
        rpId: host,
        challenge: challenge.toString('base64url'),
        timeout: CHALLENGE_LIFETIME,
        userVerification: 'required',
      };
      return { value };
    },

    /**
     * Begins a session with the passkey that signed a challenge. `address` is the client's, and the session `earlier` ends.
     * `unauthorized`: the passkey is unknown, or it did not sign this challenge for this origin.
     */
    async signIn(
      answer: SignedChallenge,
      origin: string,
      address: string,
      earlier: string | undefined,
    ): Promise<Result<Session, 'unauthorized'>> {
      const host = relyingParty(origin);
      const stored = await passkeys.findCredential(answer.id);
      if (host === undefined || stored === undefined) return { error: 'unauthorized' };
      const signature = readSignature(answer, stored, { origin, host });
      if (signature === undefined) return { error: 'unauthorized' };
      const { id: passkeyId, counter } = stored;
      // The transaction uses the challenge up, so that a signature counts once.
      return passkeys.signIn({ passkeyId, counter, ...signature }, address, earlier);
    },
  };
}

/** The name that passkeys belong to. Browsers take no IP address. */
function relyingParty(origin: string): string | undefined {
  const { hostname } = new URL(origin);
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0 ? hostname : undefined;
}

/**
 * Tells an authenticator which of its passkeys a new one replaces: only those of the same operator, so it differs between
 * environments and databases on one host. It says nothing about the person.
 */
function userHandle({ id, createdAt }: Operator, environment: Environment): string {
  return hash('sha256', `${environment} ${id} ${createdAt}`, 'base64url');
}
