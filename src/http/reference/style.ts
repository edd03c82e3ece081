import { hash } from 'node:crypto';

/** The one style sheet of the reference page; it follows the light or dark preference of the reader. */
export const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d8dee6, #30363d); --soft: light-dark(#f5f7f9, #161b22);
  --quiet: light-dark(#57606a, #8d96a0); --accent: light-dark(#0b63c5, #6cb2ff); --warn: light-dark(#8a4b00, #f0b35a) }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 60rem;
  font: 1rem/1.6 system-ui, sans-serif; color: light-dark(#1f2328, #e6edf3); background: light-dark(#fff, #0d1117) }
h1 { margin: 0; font-size: 2rem }
h2 { margin: 2.5rem 0 .75rem; font-size: 1.35rem }
h3 { margin: 1.5rem 0 .5rem; font-size: 1rem }
a { color: var(--accent) }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; list-style: none }
code, pre { font: .875em/1.5 ui-monospace, monospace }
code { padding: .1em .3em; border-radius: 4px; background: var(--soft) }
pre { overflow-x: auto; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: 6px; background: var(--soft) }
.wide { overflow-x: auto }
table { width: 100%; border-collapse: collapse; font-size: .925rem }
th, td { padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
section { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--line) }
section h2 { margin-top: .5rem }
summary { cursor: pointer }
.quiet { color: var(--quiet) }
.deprecated { color: var(--warn); font-weight: 600 }
`;

/** The policy of the page: nothing from elsewhere, no script, and no style but this one. */
export const CONTENT_SECURITY_POLICY = `default-src 'self'; script-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; base-uri 'none'; frame-ancestors 'none'`;
