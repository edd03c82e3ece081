/**
 * The host of a photo, with its port; undefined if a content security policy cannot name it, such as an IPv6 address.
 * @param {string} address
 */
export function findPhotoHost(address) {
  const { protocol = '', host = '' } = URL.parse(address) ?? {};
  return protocol === 'https:' && /^[\w.-]+(?::\d+)?$/.test(host) ? host : undefined;
}
