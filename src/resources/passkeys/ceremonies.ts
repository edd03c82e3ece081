// Contract: section 10.1.
import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import type { Environment } from '../../domain/api-key.ts';
import type { Actor } from '../../domain/audit.ts';
import { lazy } from '../../domain/lazy.ts';
import type { Operator } from '../../domain/operator.ts';
import type { Failure, Result } from '../../domain/result.ts';
import type { SignedChallenge } from '../../http/auth/signed-challenge.ts';
import type { Session } from '../operators/repository.ts';
import type { PasskeyRepository } from './repository.ts';
import { CHALLENGE_LIFETIME, MOST_PASSKEYS, NO_ROOM, type Passkey } from './rules.ts';
import type { NewCredential } from './schema.ts';

/** Loaded at the first use, because few requests need it. */
const library = lazy(() => import('@simplewebauthn/server'));

/** EdDSA, ES256 and RS256. By default, the library asks Node.js for more, which prints a warning. */
const ALGORITHMS = [-8, -7, -257];

const NEEDS_NAME = {
  error: 'invalid_request',
  message:
    'Passkeys need a host name: open the console at localhost, or set CONSOLE_URL to an https address with a name.',
} as const;

const NOT_VERIFIED = {
  error: 'invalid_request',
  message: 'The answer of the browser does not fit the console or the challenge: add the passkey again.',
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
      const [{ generateRegistrationOptions }, challenge] = await Promise.all([
        library(),
        passkeys.makeChallenge(operator.id),
      ]);
      const value = await generateRegistrationOptions({
        rpName: environment === 'production' ? 'Pet Store' : `Pet Store ${environment}`,
        rpID: host,
        userName: operator.name,
        userDisplayName: operator.name,
        userID: userHandle(operator, environment),
        challenge: new Uint8Array(challenge),
        timeout: CHALLENGE_LIFETIME,
        excludeCredentials: added.map(({ credential }) => ({ id: credential })),
        supportedAlgorithmIDs: ALGORITHMS,
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
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
      const { verifyRegistrationResponse } = await library();
      let challenge = '';
      const verified = await unlessThrown(() =>
        verifyRegistrationResponse({
          response: { ...answer, clientExtensionResults: {} },
          // Any: the transaction that uses the challenge up checks it, so that a signature counts once.
          expectedChallenge: (text) => {
            challenge = text;
            return true;
          },
          expectedOrigin: origin,
          expectedRPID: host,
          supportedAlgorithmIDs: ALGORITHMS,
          requireUserVerification: true,
        }),
      );
      if (verified?.verified !== true) return NOT_VERIFIED;
      const { id, publicKey, counter } = verified.registrationInfo.credential;
      const credential = { credential: id, publicKey: Buffer.from(publicKey).toString('base64url'), counter };
      return passkeys.create(actor, operator.id, name, credential, challenge);
    },

    /** What `navigator.credentials.get` needs. `invalid_request`: the host is an IP address. */
    async beginSignIn(origin: string): Promise<{ readonly value: object } | Failure<'invalid_request'>> {
      const host = relyingParty(origin);
      if (host === undefined) return NEEDS_NAME;
      const [{ generateAuthenticationOptions }, challenge] = await Promise.all([
        library(),
        passkeys.makeChallenge(),
      ]);
      const value = await generateAuthenticationOptions({
        rpID: host,
        challenge: new Uint8Array(challenge),
        timeout: CHALLENGE_LIFETIME,
        userVerification: 'required',
      });
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
      const { verifyAuthenticationResponse } = await library();
      const { id: passkeyId, credential, counter, publicKey } = stored;
      let challenge = '';
      const verified = await unlessThrown(() =>
        verifyAuthenticationResponse({
          response: { ...answer, clientExtensionResults: {} },
          // Any: the transaction that uses the challenge up checks it, so that a signature counts once.
          expectedChallenge: (text) => {
            challenge = text;
            return true;
          },
          expectedOrigin: origin,
          expectedRPID: host,
          credential: {
            id: credential,
            publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')),
            counter,
          },
          requireUserVerification: true,
        }),
      );
      if (verified?.verified !== true) return { error: 'unauthorized' };
      const { newCounter } = verified.authenticationInfo;
      return passkeys.signIn({ passkeyId, challenge, counter, newCounter }, address, earlier);
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
function userHandle({ id, createdAt }: Operator, environment: Environment) {
  return new Uint8Array(hash('sha256', `${environment} ${id} ${createdAt}`, 'buffer'));
}

/** The library throws for everything that is wrong with an answer. */
async function unlessThrown<T>(verify: () => Promise<T>): Promise<T | undefined> {
  try {
    return await verify();
  } catch {
    return undefined;
  }
}
