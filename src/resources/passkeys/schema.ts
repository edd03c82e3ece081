// Contract: section 10.2.
import { z } from 'zod';
import { base64url } from '../../domain/fields.ts';
import { clientDataJSON, credentialId } from '../../http/auth/signed-challenge.ts';

const name = z.string({ error: 'must be a string' });

export const Passkey = z
  .object({
    id: z.int(),
    operatorId: z.int(),
    operator: z.string(),
    name: z.string(),
    createdAt: z.iso.datetime(),
    lastUsedAt: z.iso.datetime().optional(),
  })
  .meta({
    id: 'Passkey',
    description: 'A passkey of an operator. `lastUsedAt` is its last sign-in.',
    examples: [
      {
        id: 3,
        operatorId: 2,
        operator: 'ada',
        name: 'laptop',
        createdAt: '2026-11-23T14:05:12.645Z',
        lastUsedAt: '2026-11-25T08:30:00.000Z',
      },
    ],
  });

export const PasskeyChallenge = z.looseObject({ challenge: z.string() }).meta({
  id: 'PasskeyChallenge',
  description:
    'What `PublicKeyCredential.parseCreationOptionsFromJSON` takes: the options of WebAuthn, with a challenge that works once within 5 minutes.',
  examples: [{ challenge: 'kNq0…', rp: { id: 'console.example', name: 'Pet Store' } }],
});

export const NewPasskey = z
  .object({
    name,
    credential: z.object(
      {
        id: credentialId,
        rawId: credentialId,
        type: z.literal('public-key', { error: 'must be public-key' }),
        response: z.object(
          { clientDataJSON, attestationObject: base64url(8_192) },
          { error: 'must be an object' },
        ),
      },
      { error: 'must be an object' },
    ),
  })
  .meta({
    id: 'NewPasskey',
    description: 'A passkey to add: its name, and what `PublicKeyCredential.toJSON` gives.',
    examples: [
      {
        name: 'laptop',
        credential: {
          id: 'aGVsbG8',
          rawId: 'aGVsbG8',
          type: 'public-key',
          response: { clientDataJSON: 'eyJ0eXBlIjoi', attestationObject: 'o2NmbXRk' },
        },
      },
    ],
  });

export type NewCredential = z.output<typeof NewPasskey>['credential'];

export const PasskeyPatch = z
  .object({ name })
  .meta({ id: 'PasskeyPatch', description: 'Another name.', examples: [{ name: 'old laptop' }] });

/** What the browser adds to what an authenticator signs: JSON, of which other properties may come later. */
export const ClientData = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
  topOrigin: z.string().optional(),
});
