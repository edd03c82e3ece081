// Contract: section 10.1.
import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import type { Result } from '../../domain/result.ts';
import type { SignedChallenge } from '../../http/auth/signed-challenge.ts';
import { type Cbor, type CborMap, CborReader, isMap, Malformed } from './cbor.ts';
import type { Credential } from './rules.ts';
import { ClientData, type NewCredential } from './schema.ts';

/*
 * What a browser sends for a passkey (WebAuthn Level 3, sections 7.1 and 7.2). Passkeys have no attestation, so there is no
 * certificate to check and nobody to ask. Everything here works on bytes that are in memory.
 */

/** EdDSA, ES256 and RS256, as COSE numbers them. */
export const ALGORITHMS = [-8, -7, -257] as const;

/** Bytes of the id of a credential, by the standard. */
const MOST_ID_BYTES = 1_023;

/** Bytes of the modulus of an RSA key: of 2,048 to 4,096 bits. */
const RSA_BYTES = { least: 256, most: 512 } as const;

const PRESENT = 0x01;
const VERIFIED = 0x04;
const BACKUP_ELIGIBLE = 0x08;
const BACKED_UP = 0x10;
const HAS_CREDENTIAL = 0x40;
const HAS_EXTENSIONS = 0x80;

const NOT_VERIFIED = {
  error: 'invalid_request',
  message: 'The answer of the browser does not fit the console or the challenge: add the passkey again.',
} as const;

const ATTESTED = {
  error: 'invalid_request',
  message:
    'The passkey has an attestation, and the console takes only the format none: add it with another browser or authenticator.',
} as const;

/** What the answer of a browser must be for. */
export interface Console {
  /** As browsers name it. */
  readonly origin: string;
  /** The name that its passkeys belong to. */
  readonly host: string;
}

/** The passkey that a browser made, and the challenge that it answers. The caller checks the challenge. */
export function readNewPasskey(
  { id, rawId, response }: NewCredential,
  console: Console,
): Result<{ readonly challenge: string; readonly credential: Credential }, 'invalid_request'> {
  return unlessMalformed<Result<{ challenge: string; credential: Credential }, 'invalid_request'>>(
    NOT_VERIFIED,
    () => {
      const reader = new CborReader(toBytes(response.attestationObject));
      const attestation = reader.map();
      if (attestation.get('fmt') !== 'none') return ATTESTED;
      const { challenge } = readClientData(response.clientDataJSON, 'webauthn.create', console.origin);
      const statement = attestation.get('attStmt');
      if (!reader.isAtEnd || !isMap(statement) || statement.size > 0) throw new Malformed('attestation');
      const data = readAuthenticatorData(requireBytes(attestation, 'authData'), console.host);
      if (data.credential === undefined || data.credential.id !== id || id !== rawId)
        throw new Malformed('no credential');
      // A key that cannot be used must not be stored.
      toPublicKey(data.credential.publicKey);
      const { publicKey } = data.credential;
      const credential = {
        credential: id,
        publicKey: publicKey.toString('base64url'),
        counter: data.counter,
      };
      return { value: { challenge, credential } };
    },
  );
}

/**
 * The challenge that a passkey has signed, and its counter now. The caller checks the challenge. Undefined when the passkey did
 * not sign this for the console, or when it may be a copy, because its counter did not rise.
 */
export function readSignature(
  { rawId, response }: SignedChallenge,
  stored: Credential,
  console: Console,
): { readonly challenge: string; readonly newCounter: number } | undefined {
  return unlessMalformed(undefined, () => {
    if (rawId !== stored.credential) throw new Malformed('id');
    const client = readClientData(response.clientDataJSON, 'webauthn.get', console.origin);
    const signed = toBytes(response.authenticatorData);
    const { counter } = readAuthenticatorData(signed, console.host);
    const counts = counter > 0 || stored.counter > 0;
    if (counts && counter <= stored.counter) return undefined;
    const { key, digest } = toPublicKey(toBytes(stored.publicKey));
    const data = Buffer.concat([signed, hash('sha256', client.bytes, 'buffer')]);
    if (!verify(digest, data, key, toBytes(response.signature))) return undefined;
    return { challenge: client.challenge, newCounter: counter };
  });
}

function readClientData(text: string, type: string, origin: string) {
  const bytes = toBytes(text);
  const { data } = ClientData.safeParse(JSON.parse(bytes.toString()));
  // A page of another origin that holds the console in a frame gets nothing.
  if (
    data?.type !== type ||
    data.origin !== origin ||
    data.crossOrigin === true ||
    data.topOrigin !== undefined
  )
    throw new Malformed('client data');
  return { bytes, challenge: data.challenge };
}

/** Also checks that the data is for this host, and that the authenticator has checked the person. */
function readAuthenticatorData(bytes: Buffer, host: string) {
  // Hash of the host, flags, counter.
  if (bytes.length < 37) throw new Malformed('too short');
  const flags = bytes.readUInt8(32);
  const has = (flag: number) => (flags & flag) !== 0;
  if (!bytes.subarray(0, 32).equals(hash('sha256', host, 'buffer'))) throw new Malformed('host');
  if (!has(PRESENT) || !has(VERIFIED)) throw new Malformed('person');
  if (has(BACKED_UP) && !has(BACKUP_ELIGIBLE)) throw new Malformed('backup');
  let at = 37;
  let credential: { readonly id: string; readonly publicKey: Buffer } | undefined;
  if (has(HAS_CREDENTIAL)) {
    // The model of the authenticator, the length of the id.
    if (bytes.length < at + 18) throw new Malformed('too short');
    const start = at + 18;
    const end = start + bytes.readUInt16BE(at + 16);
    if (end === start || end - start > MOST_ID_BYTES || end > bytes.length) throw new Malformed('id');
    const reader = new CborReader(bytes, end);
    reader.map();
    at = reader.at;
    credential = {
      id: bytes.subarray(start, end).toString('base64url'),
      publicKey: bytes.subarray(end, at),
    };
  }
  if (has(HAS_EXTENSIONS)) {
    const reader = new CborReader(bytes, at);
    reader.map();
    at = reader.at;
  }
  if (at !== bytes.length) throw new Malformed('more bytes');
  return { counter: bytes.readUInt32BE(33), credential };
}

/** Labels of a COSE key (RFC 9052, RFC 9053 and RFC 8230). */
const KEY_TYPE = 1;
const ALGORITHM = 3;
/** The curve, or the modulus of RSA; x, or the exponent of RSA; y. */
const [FIRST, SECOND, THIRD] = [-1, -2, -3] as const;

/** @throws Malformed, or the error of OpenSSL for a point that is not on the curve. */
function toPublicKey(cose: Buffer): { readonly key: KeyObject; readonly digest: 'sha256' | undefined } {
  const map = new CborReader(cose).map();
  const algorithm = map.get(ALGORITHM);
  if (algorithm === -7) {
    requireNumbers(map, { [KEY_TYPE]: 2, [FIRST]: 1 });
    const [x, y] = [requireBytes(map, SECOND, 32), requireBytes(map, THIRD, 32)].map(toText);
    return { key: toKey({ kty: 'EC', crv: 'P-256', x, y }), digest: 'sha256' };
  }
  if (algorithm === -8) {
    requireNumbers(map, { [KEY_TYPE]: 1, [FIRST]: 6 });
    const x = toText(requireBytes(map, SECOND, 32));
    return { key: toKey({ kty: 'OKP', crv: 'Ed25519', x }), digest: undefined };
  }
  if (algorithm !== -257) throw new Malformed('algorithm');
  requireNumbers(map, { [KEY_TYPE]: 3 });
  const [n, e] = [requireBytes(map, FIRST), requireBytes(map, SECOND)];
  if (n.length < RSA_BYTES.least || n.length > RSA_BYTES.most || e.length > 4) throw new Malformed('RSA');
  return { key: toKey({ kty: 'RSA', n: toText(n), e: toText(e) }), digest: 'sha256' };
}

function toKey(jwk: Record<string, string | undefined>): KeyObject {
  return createPublicKey({ key: jwk, format: 'jwk' });
}

function requireNumbers(map: CborMap, numbers: Readonly<Record<number, number>>): void {
  for (const [label, number] of Object.entries(numbers))
    if (map.get(Number(label)) !== number) throw new Malformed('key');
}

function requireBytes(map: CborMap, label: number | string, length?: number): Buffer {
  const value: Cbor | undefined = map.get(label);
  if (!Buffer.isBuffer(value) || (length !== undefined && value.length !== length))
    throw new Malformed(`no bytes at ${label}`);
  return value;
}

function toBytes(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}

function toText(bytes: Buffer): string {
  return bytes.toString('base64url');
}

/** Whatever is wrong with an answer, a client sent it: text that is no UTF-8 or JSON, and keys that OpenSSL refuses, too. */
function unlessMalformed<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
