// Contract: section 10.1.
import { z } from 'zod';
import { base64url } from '../../domain/fields.ts';

/** The standard allows 1,023 bytes. */
export const credentialId = base64url(1_364);
export const clientDataJSON = base64url(4_096);

/** What `PublicKeyCredential.toJSON` gives after a sign-in. Its other properties are not used. */
export const SignedChallenge = z.object(
  {
    id: credentialId,
    rawId: credentialId,
    type: z.literal('public-key', { error: 'must be public-key' }),
    response: z.object(
      { clientDataJSON, authenticatorData: base64url(2_048), signature: base64url(1_024) },
      { error: 'must be an object' },
    ),
  },
  { error: 'must be an object' },
);

export type SignedChallenge = z.output<typeof SignedChallenge>;
