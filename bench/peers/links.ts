/** The `Link` header of a page that another one follows. */
export function nextLink(host: string, query: string): string {
  return `<http://${host}/v1/pets?${query}>; rel="next"`;
}

/** The `Location` header of a created animal. */
export function petAddress(host: string, id: number | bigint): string {
  return `http://${host}/v1/pets/${id}`;
}
