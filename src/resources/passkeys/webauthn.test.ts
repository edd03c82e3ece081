// Contract: section 10.1.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import * as fc from 'fast-check';
import { cborBytes, cborText, inventAuthenticator } from '../../../test/support/authenticator.ts';
import { CborReader } from './cbor.ts';
import { ALGORITHMS, readNewPasskey, readSignature } from './webauthn.ts';

const SITE = { origin: 'https://console.example', host: 'console.example' };
const CHOICES = { origin: SITE.origin, challenge: 'A'.repeat(43) };
const ALL = ['ES256', 'EdDSA', 'RS256'] as const;

/** Of one field of an answer. */
interface Change {
  readonly field: number;
  /** Where, as a part of the length. */
  readonly at: number;
  readonly kind: string;
  readonly byte: number;
}

type Authenticator = ReturnType<typeof inventAuthenticator>;

function add(made: ReturnType<Authenticator['create']>) {
  const read = readNewPasskey(made, SITE);
  return 'error' in read ? undefined : read.value;
}

/** What the service stores of a new passkey of this authenticator. */
function stored(authenticator: Authenticator) {
  const added = add(authenticator.create(CHOICES));
  assert.ok(added !== undefined);
  return added.credential;
}

/** A map or a list that holds so many others, one in another. */
const nested = (levels: number, head: number) => Buffer.from([...Array<number>(levels).fill(head), 0xa0]);

for (const algorithm of ALL)
  test(`a passkey with ${algorithm} is added and signs in`, () => {
    const authenticator = inventAuthenticator(algorithm);
    const credential = stored(authenticator);
    assert.equal(credential.credential, authenticator.id);
    const signed = readSignature(authenticator.sign({ ...CHOICES, counter: 7 }), credential, SITE);
    assert.deepEqual(signed, { challenge: CHOICES.challenge, newCounter: 7 });
    const other = { ...credential, publicKey: stored(inventAuthenticator(algorithm)).publicKey };
    assert.equal(readSignature(authenticator.sign(CHOICES), other, SITE), undefined);
  });

test('every format of attestation but none is refused before anything else is read', () => {
  const authenticator = inventAuthenticator();
  const statement = Buffer.concat([
    Buffer.from([0xa1]),
    cborText('x5c'),
    Buffer.from([0x81]),
    cborBytes(Buffer.from('a certificate')),
  ]);
  for (const format of [
    'android-key',
    'packed',
    'tpm',
    'apple',
    'fido-u2f',
    'android-safetynet',
    'None',
    '',
  ]) {
    const wrongToo = { ...CHOICES, origin: 'https://evil.example' };
    const made = authenticator.create(wrongToo, { format: cborText(format), statement });
    const read = readNewPasskey(made, SITE);
    assert.ok('error' in read, format);
    assert.equal(read.error, 'invalid_request');
    assert.match(read.message ?? '', /only the format none/, format);
  }
  assert.equal(add(authenticator.create(CHOICES, { statement })), undefined);
  assert.equal(
    add(authenticator.create(CHOICES, { format: Buffer.from([0x44, ...Buffer.from('none')]) })),
    undefined,
  );
});

test('extensions of an authenticator are read over, within bounds', () => {
  const authenticator = inventAuthenticator();
  const credential = stored(authenticator);
  const several = (count: number) =>
    Buffer.concat([
      Buffer.from([0xb8, count]),
      ...Array.from({ length: count }, (_, index) => Buffer.from([0x62, 0x61, 0x30 + index, 0xf5])),
    ]);
  for (const [extensions, isFine] of [
    [several(1), true],
    [several(40), true],
    [several(60), false],
    [nested(3, 0x81), false],
    [Buffer.from([0xa1, 0x61, 0x61, ...nested(2, 0x81)]), true],
    [Buffer.from([0xa1, 0x61, 0x61, ...nested(3, 0x81)]), false],
    [Buffer.from([0xa1, 0x61, 0x61, ...nested(900, 0x81)]), false],
    [Buffer.from([0xf5]), false],
    [Buffer.concat([several(1), Buffer.from([0])]), false],
  ] as const) {
    const message = extensions.subarray(0, 9).toString('hex');
    assert.equal(add(authenticator.create(CHOICES, { extensions })) !== undefined, isFine, message);
    const signed = readSignature(authenticator.sign(CHOICES, extensions), credential, SITE);
    assert.equal(signed !== undefined, isFine, message);
  }
});

test('a key that cannot verify signatures is not added', () => {
  const authenticator = inventAuthenticator();
  const es256 = (x: Buffer, y: Buffer) =>
    Buffer.concat([
      Buffer.from('a5010203262001', 'hex'),
      Buffer.from([0x21]),
      cborBytes(x),
      Buffer.from([0x22]),
      cborBytes(y),
    ]);
  const rs256 = (bytes: number, exponent: number) =>
    Buffer.concat([
      Buffer.from('a401030339010020', 'hex'),
      cborBytes(Buffer.alloc(bytes, 0xff)),
      Buffer.from([0x21]),
      cborBytes(Buffer.alloc(exponent, 0x03)),
    ]);
  const keys = {
    'no point of the curve': es256(Buffer.alloc(32, 1), Buffer.alloc(32, 1)),
    'a short coordinate': es256(Buffer.alloc(31, 1), Buffer.alloc(32, 1)),
    'a short RSA key': rs256(255, 3),
    'a long RSA key': rs256(513, 3),
    'a long exponent': rs256(256, 5),
    'another algorithm': Buffer.from('a201020338ff', 'hex'),
    'no map': Buffer.from([0x80]),
    'a label twice': Buffer.from('a201020102', 'hex'),
    nothing: Buffer.from([0xa0]),
  };
  for (const [title, key] of Object.entries(keys))
    assert.equal(add(authenticator.create(CHOICES, { key })), undefined, title);
  assert.notEqual(add(authenticator.create(CHOICES, { key: rs256(512, 4) })), undefined);
});

test('CBOR is read within bounds that are checked before anything is made', () => {
  const read = (hex: string) => new CborReader(Buffer.from(hex, 'hex')).map();
  assert.deepEqual(Array.from(read('a3016161206162187bf6')), [
    [1, 'a'],
    [-1, 'b'],
    [123, null],
  ]);
  for (const hex of [
    // A map, a list, bytes and a text that are longer than what follows.
    'baffffffff',
    'a1019affffffff',
    'a1015affffffff',
    'a1017affffffff61',
    // Lengths of 8 bytes or without an end, a tag, floats, an end, a text that is no UTF-8, a key that is a list.
    'a1015b0000000000000001aa',
    'bf01ff',
    'a1015f41aaff',
    'a101c001',
    'a101f93c00',
    'a101fb3ff0000000000000',
    'a101ff',
    'a10161ff',
    'a18001',
    '',
  ])
    assert.throws(() => read(hex), hex);
});

test('what the service accepts of a passkey, @simplewebauthn/server accepts with the same result', async () => {
  const authenticators = ALL.map((algorithm) => inventAuthenticator(algorithm));
  const change: fc.Arbitrary<Change> = fc.record({
    field: fc.nat(3),
    at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    kind: fc.constantFrom('flip', 'cut', 'add', 'none'),
    byte: fc.integer({ min: 1, max: 255 }),
  });
  const mutate = (text: string, { at, kind, byte }: Change) => {
    const bytes = Buffer.from(text, 'base64url');
    const index = Math.floor(at * bytes.length);
    if (kind === 'flip') bytes[index] = (bytes[index] ?? 0) ^ byte;
    const rest = kind === 'cut' ? bytes.subarray(index + 1) : bytes.subarray(index);
    const added = kind === 'add' ? [byte] : [];
    return Buffer.concat([bytes.subarray(0, index), Buffer.from(added), rest]).toString('base64url');
  };
  const changed = <T extends Record<string, string>>(response: T, how: Change): T => {
    const [name] = Object.keys(response).slice(how.field % Object.keys(response).length);
    return name === undefined ? response : { ...response, [name]: mutate(response[name] ?? '', how) };
  };
  const expected = {
    expectedChallenge: () => true,
    expectedOrigin: SITE.origin,
    expectedRPID: SITE.host,
    requireUserVerification: true,
  };
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...authenticators), change, async (authenticator, how) => {
      const made = authenticator.create(CHOICES);
      const answer = { ...made, response: changed(made.response, how) };
      const added = add(answer);
      if (added !== undefined) {
        accepted++;
        const verified = await verifyRegistrationResponse({
          ...expected,
          response: { ...answer, clientExtensionResults: {} },
          supportedAlgorithmIDs: [...ALGORITHMS],
        });
        assert.ok(verified.verified);
        const { id, publicKey, counter } = verified.registrationInfo.credential;
        const key = Buffer.from(publicKey).toString('base64url');
        assert.deepEqual(added.credential, { credential: id, publicKey: key, counter });
      }
      const credential = stored(authenticator);
      const signed = authenticator.sign({ ...CHOICES, counter: 3 });
      const sent = { ...signed, response: changed(signed.response, how) };
      const read = readSignature(sent, credential, SITE);
      if (read === undefined) return;
      accepted++;
      const verified = await verifyAuthenticationResponse({
        ...expected,
        response: { ...sent, clientExtensionResults: {} },
        credential: {
          id: credential.credential,
          publicKey: new Uint8Array(Buffer.from(credential.publicKey, 'base64url')),
          counter: 0,
        },
      });
      assert.ok(verified.verified);
      assert.equal(verified.authenticationInfo.newCounter, read.newCounter);
    }),
    { numRuns: 300 },
  );
  assert.ok(accepted > 50);
});
