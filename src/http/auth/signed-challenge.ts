// Contract: section 10.1.
import { z } from 'zod';
import { base64url } from '../../domain/fields.ts';

/** What `PublicKeyCredential.toJSON` gives after a sign-in. Its other properties are not used. */
export const SignedChallenge = z.object(
  {
    id: base64url,
    rawId: base64url,
    type: z.literal('public-key', { error: 'must be public-key' }),
    response: z.object(
      { clientDataJSON: base64url, authenticatorData: base64url, signature: base64url },
      { error: 'must be an object' },
    ),
  },
  { error: 'must be an object' },
);

export type SignedChallenge = z.output<typeof SignedChallenge>;
