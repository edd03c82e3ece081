import { PARAMETERS } from './database-url.ts';

const MASK = '****';

const SECRETS: ReadonlySet<string> = new Set(['password', 'sslpassword']);

/**
 * The address as it was written, but with its password masked, and every parameter that is not known: its name may be a part of a
 * password that is not encoded.
 */
export function maskUrl(text: string): string {
  const [, scheme, authority = '', path = '', query = ''] =
    /^([a-z]+:\/\/)([^/?#]*)([^?]*)(.*)$/s.exec(text) ?? [];
  if (scheme === undefined) return text;
  const masked = authority.replace(/^([^:]*):.+@/s, `$1:${MASK}@`);
  return scheme + masked + path + query.replaceAll(/([?&])([^&=]*)[^&]*/g, maskParameter);
}

function maskParameter(parameter: string, mark: string, name: string): string {
  if (parameter === mark) return parameter;
  if (SECRETS.has(name)) return `${mark}${name}=${MASK}`;
  return PARAMETERS.includes(name) ? parameter : mark + MASK;
}
