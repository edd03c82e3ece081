import { createRequire } from 'node:module';
import { Marked, type Tokens } from 'marked';
import { mapInParts, type Parts } from '../../domain/parts.ts';
import { html } from '../shared/html.ts';

/** Not an import, because the types of the package bring those of browsers. */
const load = createRequire(import.meta.url);
const hljs = load('highlight.js/lib/core') as {
  registerLanguage(name: string, grammar: unknown): void;
  highlight(source: string, options: { language: string }): { readonly value: string };
};

/** Every language of a sample: its name on the page, and the grammar that colours it. The names are those of fences and samples. */
const LANGUAGES = {
  sh: { label: 'curl', grammar: 'bash' },
  typescript: { label: 'TypeScript', grammar: 'typescript' },
  python: { label: 'Python', grammar: 'python' },
  go: { label: 'Go', grammar: 'go' },
  php: { label: 'PHP', grammar: 'php' },
  ruby: { label: 'Ruby', grammar: 'ruby' },
  java: { label: 'Java', grammar: 'java' },
  csharp: { label: 'C#', grammar: 'csharp' },
  json: { label: 'JSON', grammar: 'json' },
} as const;

export type Language = keyof typeof LANGUAGES;

for (const [name, { grammar }] of Object.entries(LANGUAGES))
  hljs.registerLanguage(name, load(`highlight.js/lib/languages/${grammar}`));

function isLanguage(name: string): name is Language {
  return Object.hasOwn(LANGUAGES, name);
}

export function labelLanguage(language: Language): string {
  return LANGUAGES[language].label;
}

/** Code as HTML, in the colours of its language. */
export function highlight(language: Language, source: string): string {
  return hljs.highlight(source, { language }).value;
}

/** Compiles the grammars, which the first sample of each language would do. */
export function compileGrammars(): Parts<unknown> {
  return mapInParts(Object.keys(LANGUAGES) as Language[], (language) => highlight(language, 'x = "y"'));
}

export interface Sample {
  readonly language: Language;
  readonly source: string;
}

/** A piece of a page: its text as HTML, and the samples that belong beside it. */
export interface Passage {
  readonly text: string;
  readonly samples: readonly Sample[];
  /** The text after the samples, if no other samples follow it; else empty. */
  readonly rest: string;
}

/** `Rate limits` as `rate-limits`: the address of a page of the guide. */
export function slugify(heading: string): string {
  return heading.toLowerCase().replaceAll(' ', '-');
}

const ALERT = /^\[!WARNING\]\s*/;

const marked = new Marked({
  renderer: {
    // The text is never markup of the page.
    html: ({ text }) => html`${text}`.text,
    // A table may be wider than a phone.
    table(token) {
      const cells = (row: readonly Tokens.TableCell[], tag: string) =>
        row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('');
      const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('');
      return `<div class="scroll" tabindex="0"><table><thead><tr>${cells(token.header, 'th')}</tr></thead><tbody>${rows}</tbody></table></div>`;
    },
    blockquote({ raw, tokens }) {
      if (!ALERT.test(raw.replace(/^> ?/, ''))) return false;
      const text = this.parser.parse(tokens).replace('[!WARNING]', '');
      return `<div class="alert">${text}</div>`;
    },
  },
});

/** Markdown of one line, as HTML. */
export function renderInline(text: string): string {
  return marked.parseInline(text, { async: false });
}

export function renderText(text: string): string {
  return marked.parse(text, { async: false });
}

/** Takes the code out of the text: samples that follow one another are one sample in several languages. */
function splitPassages(text: string): readonly Passage[] {
  const passages: { text: string; samples: Sample[]; rest: string }[] = [];
  let isInText = false;
  for (const token of marked.lexer(text)) {
    if (token.type === 'space') continue;
    if (token.type === 'code' && isLanguage(token['lang'] ?? '')) {
      if (passages.length === 0) passages.push({ text: '', samples: [], rest: '' });
      passages.at(-1)?.samples.push({ language: token['lang'] as Language, source: token['text'] as string });
      isInText = false;
      continue;
    }
    if (!isInText) passages.push({ text: '', samples: [], rest: '' });
    isInText = true;
    const passage = passages.at(-1);
    if (passage !== undefined) passage.text += marked.parser([token]);
  }
  // Beside a single group of samples, the whole text stands.
  const [first, ...others] = passages.filter(({ samples }) => samples.length > 0);
  if (first === undefined || others.length > 0) return passages;
  const join = (parts: readonly Passage[]) => parts.map(({ text: part }) => part).join('');
  const end = passages.indexOf(first) + 1;
  return [{ text: join(passages.slice(0, end)), samples: first.samples, rest: join(passages.slice(end)) }];
}

interface GuidePage {
  readonly title: string;
  readonly slug: string;
  readonly passages: readonly Passage[];
}

/** The pages of the guide: one for each second-level heading. */
export function splitPages(guide: string): Parts<readonly GuidePage[]> {
  const pages = guide.split(/^## /m).filter((page) => page.trim() !== '');
  return mapInParts(pages, (page) => {
    const end = page.indexOf('\n');
    const title = page.slice(0, end);
    return { title, slug: slugify(title), passages: splitPassages(page.slice(end)) };
  });
}
