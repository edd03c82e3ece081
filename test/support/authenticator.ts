import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');

/** What an authenticator may get wrong. */
interface Choices {
  readonly origin: string;
  /** Without it, the host of the origin. */
  readonly host?: string;
  readonly challenge: string;
  readonly counter?: number;
  /** Whether the person was not checked, by a finger or a PIN. */
  readonly isUnverified?: boolean;
}

const NOTHING: Buffer = Buffer.alloc(0);

/** What an authenticator makes of a new passkey, in CBOR. */
interface Made {
  readonly format: Uint8Array;
  readonly statement: Uint8Array;
  readonly key: Uint8Array;
  readonly extensions: Buffer;
}

/** Bytes in CBOR, of any length up to 65,535. */
export const cborBytes = (bytes: Uint8Array) => {
  const head = Buffer.from([0x59, bytes.length >> 8, bytes.length & 0xff]);
  return Buffer.concat([head, bytes]);
};
export const cborText = (value: string) =>
  Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);

const MADE = { format: cborText('none'), statement: Buffer.from([0xa0]), extensions: NOTHING };

/** A new pair of keys, with the public one as COSE writes it. */
const PAIRS = {
  ES256() {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    const head = [Buffer.from('a50102032620012158', 'hex'), Buffer.from([32])];
    const cose = [
      ...head,
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ];
    return { privateKey, cose: Buffer.concat(cose) };
  },
  EdDSA() {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const { x = '' } = publicKey.export({ format: 'jwk' });
    const cose = [Buffer.from('a4010103272006215820', 'hex'), Buffer.from(x, 'base64url')];
    return { privateKey, cose: Buffer.concat(cose) };
  },
  RS256() {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
    const exponent = Buffer.from(e, 'base64url');
    const cose = [
      Buffer.from('a401030339010020', 'hex'),
      cborBytes(Buffer.from(n, 'base64url')),
      Buffer.from([0x21, 0x40 + exponent.length]),
      exponent,
    ];
    return { privateKey, cose: Buffer.concat(cose) };
  },
} as const;

/** An authenticator in software, with one passkey: what a browser sends to the service (WebAuthn). */
export function inventAuthenticator(algorithm: keyof typeof PAIRS = 'ES256') {
  const { privateKey, cose } = PAIRS[algorithm]();
  const id = randomBytes(16);

  const clientData = (type: string, { origin, challenge }: Choices) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const authenticatorData = (
    { origin, host = new URL(origin).hostname, counter = 0, isUnverified = false }: Choices,
    { credential = NOTHING, extensions = NOTHING } = {},
  ) => {
    const contents = (credential.length > 0 ? 0x40 : 0) | (extensions.length > 0 ? 0x80 : 0);
    const flags = 0x01 | (isUnverified ? 0 : 0x04) | contents;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(host), Buffer.from([flags]), count, credential, extensions]);
  };
  const answer = <T>(response: T) => ({
    id: text(id),
    rawId: text(id),
    type: 'public-key' as const,
    response,
  });

  return {
    id: text(id),
    /** The answer to a challenge that asks for a new passkey. Everything of `made` is CBOR. */
    create(choices: Choices, made: Partial<Made> = {}) {
      const { format, statement, key, extensions } = { ...MADE, key: cose, ...made };
      const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key]);
      const data = authenticatorData(choices, { credential, extensions });
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        cborText('fmt'),
        format,
        cborText('attStmt'),
        statement,
        cborText('authData'),
        cborBytes(data),
      ]);
      return answer({
        clientDataJSON: text(clientData('webauthn.create', choices)),
        attestationObject: text(attestation),
      });
    },
    /** The answer to a challenge that signs in. */
    sign(choices: Choices, extensions = NOTHING) {
      const data = authenticatorData(choices, { extensions });
      const client = clientData('webauthn.get', choices);
      const signed = Buffer.concat([data, sha256(client)]);
      return answer({
        clientDataJSON: text(client),
        authenticatorData: text(data),
        signature: text(sign(algorithm === 'EdDSA' ? undefined : 'sha256', signed, privateKey)),
      });
    },
  };
}
