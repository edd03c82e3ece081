// Contract: sections 1.1 and 9.
import { normalBase } from '../../config/addresses.ts';
import type { Check } from '../check.ts';
import { elements, member, toText } from '../json.ts';

export const DESCRIPTION: readonly Check[] = [
  {
    section: '1.2',
    promise: 'the description names the base addresses of production and staging, which end with /v1',
    run: async (probe) => {
      const { answer, document } = probe.scene.published;
      const urls = elements(member(document, 'servers')).map((server) => toText(member(server, 'url')));
      const areBases = urls.length > 0 && urls.length <= 2 && urls.every((url) => normalBase(url) === url);
      probe.expect(answer, areBases, 'one or two addresses that end with /v1', urls.join(', ') || 'none');
    },
  },
  {
    section: '9',
    promise: 'the published description is OpenAPI 3.1 of the interface version 1.0.0',
    run: async (probe) => {
      const { answer, document } = probe.scene.published;
      const [openapi, version] = [member(document, 'openapi'), member(member(document, 'info'), 'version')];
      probe.expect(
        answer,
        typeof openapi === 'string' && openapi.startsWith('3.1.') && version === '1.0.0',
        'openapi 3.1 and version 1.0.0',
        `openapi ${toText(openapi)} and version ${toText(version)}`,
      );
    },
  },
  {
    section: '1.1',
    promise: 'the published description has every operation, with its scope, its stability and its answers',
    run: async (probe) => {
      const { answer, document } = probe.scene.published;
      const differences = probe.scene.description.differences(document);
      probe.expect(
        answer,
        differences.length === 0,
        'every operation of section 1.1',
        `${differences.slice(0, 5).join('; ')}${differences.length > 5 ? `; and ${differences.length - 5} more` : ''}`,
      );
    },
  },
];
