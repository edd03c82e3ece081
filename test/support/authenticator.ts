import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

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

/** An authenticator in software, with one passkey: what a browser sends to the service (WebAuthn, with ES256). */
export function inventAuthenticator() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(16);
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const key = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ]);

  const clientData = (type: string, { origin, challenge }: Choices) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const authenticatorData = (
    { origin, host = new URL(origin).hostname, counter = 0, isUnverified = false }: Choices,
    credential = Buffer.alloc(0),
  ) => {
    const flags = 0x01 | (isUnverified ? 0 : 0x04) | (credential.length > 0 ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(host), Buffer.from([flags]), count, credential]);
  };
  const answer = <T>(response: T) => ({
    id: text(id),
    rawId: text(id),
    type: 'public-key' as const,
    response,
  });

  return {
    id: text(id),
    /** The answer to a challenge that asks for a new passkey. */
    create(choices: Choices) {
      const data = authenticatorData(
        choices,
        Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key]),
      );
      const attestation = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
        Buffer.from([data.length]),
        data,
      ]);
      return answer({
        clientDataJSON: text(clientData('webauthn.create', choices)),
        attestationObject: text(attestation),
      });
    },
    /** The answer to a challenge that signs in. */
    sign(choices: Choices) {
      const data = authenticatorData(choices);
      const client = clientData('webauthn.get', choices);
      const signature = createSign('sha256')
        .update(Buffer.concat([data, sha256(client)]))
        .sign(privateKey);
      return answer({
        clientDataJSON: text(client),
        authenticatorData: text(data),
        signature: text(signature),
      });
    },
  };
}
