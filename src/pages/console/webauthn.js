import { ValidationError } from '../../../client/src/errors.ts';

/** Why this browser has no passkeys at this address; undefined if it has. */
export function whyNoPasskeys() {
  const { hostname, port } = location;
  if (hostname === '127.0.0.1' || hostname === '[::1]')
    return `A passkey belongs to a name, and this address has none. Open the console at http://localhost:${port}.`;
  if (/^[\d.]+$|^\[/.test(hostname))
    return 'A passkey belongs to a name, and this address has none. Set CONSOLE_URL to an https address with a name.';
  if (!isSecureContext) return 'Passkeys need an https address: set CONSOLE_URL to one.';
  return typeof PublicKeyCredential === 'undefined' ||
    !('parseCreationOptionsFromJSON' in PublicKeyCredential)
    ? 'This browser is too old for passkeys.'
    : undefined;
}

/**
 * Asks the person for a new passkey, and gives what the service checks.
 * @param {PublicKeyCredentialCreationOptionsJSON} options @throws {ValidationError}
 */
export async function makePasskey(options) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return toJson(await explained(navigator.credentials.create({ publicKey })));
}

/**
 * Asks the person to sign in with a passkey, and gives what the service checks.
 * @param {PublicKeyCredentialRequestOptionsJSON} options @throws {ValidationError}
 */
export async function signChallenge(options) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return toJson(await explained(navigator.credentials.get({ publicKey })));
}

/** @param {Credential | null} credential */
function toJson(credential) {
  if (!(credential instanceof PublicKeyCredential)) throw refusal('The browser gave no passkey.');
  return credential.toJSON();
}

const CANCELLED = 'No passkey was used: the request was cancelled, or it took too long. Try again.';
const ADDED_ALREADY = 'This device has a passkey of yours already.';

/** @template T @param {Promise<T>} work @returns {Promise<T>} */
async function explained(work) {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    if (error.name === 'NotAllowedError' || error.name === 'AbortError') throw refusal(CANCELLED);
    if (error.name === 'InvalidStateError') throw refusal(ADDED_ALREADY);
    throw refusal(`The browser refused this: ${error.message}`);
  }
}

/** @param {string} message */
function refusal(message) {
  return new ValidationError(message, { status: 400, code: 'passkey' });
}
