import type { Environment } from '../domain/api-key.ts';
export interface OpenApi {
  readonly json: string;
  readonly yaml: string;
  readonly catalog: string;
}
export function openApi(_urls: Readonly<Record<Environment, string>>): OpenApi {
  return { json: '{}', yaml: '', catalog: '{}' };
}
