import { Content } from './content.ts';
import { fields } from './fields.ts';
import type { Description } from './openapi/types.ts';
import { type ReferenceFiles, referenceFiles } from './reference/files.ts';
import { llmsText } from './reference/llms.ts';
import { referenceMarkdown } from './reference/markdown.ts';
import { contentSecurityPolicy, referencePage } from './reference/page.ts';

/** The published reference: all of it is made of the description, when it is first asked for. */
export interface Reference {
  readonly page: Content;
  readonly markdown: Content;
  /** See https://llmstxt.org. */
  readonly llms: Content;
  /** A file of the page, by its path without the slash at the front. */
  file(path: string): Promise<Content | undefined>;
}

/**
 * `base` is the base address of the running environment, which "try it" begins with. `find` finds the files of the page;
 * it is asked again after it rejected.
 */
export function createReference(description: Description, base: string, find = referenceFiles): Reference {
  let found: Promise<ReferenceFiles> | undefined;
  const files = () => {
    if (found === undefined) {
      found = find();
      // What failed once is tried again.
      found.catch(() => (found = undefined));
    }
    return found;
  };
  const page = async () =>
    referencePage(description, referenceMarkdown(description), (await files()).base, base);
  return {
    page: new Content(
      'text/html; charset=utf-8',
      page,
      fields('Cache-Control', 'no-cache', 'Content-Security-Policy', contentSecurityPolicy(description)),
    ),
    markdown: text('text/markdown; charset=utf-8', () => referenceMarkdown(description)),
    llms: text('text/plain; charset=utf-8', () => llmsText(description, base)),
    async file(path) {
      const { base: folder, byName } = await files();
      return path.startsWith(folder) ? byName.get(path.slice(folder.length)) : undefined;
    },
  };
}

/** For programs, on whatever site they run. */
function text(type: string, load: () => string): Content {
  return new Content(type, load, fields('Access-Control-Allow-Origin', '*', 'Cache-Control', 'no-cache'));
}
