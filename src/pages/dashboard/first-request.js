import { html } from 'htm/preact';
import { useRef } from 'preact/hooks';
import { copyText } from '../shared/clipboard.js';
import { say } from '../shared/frame.js';

/** What a key with a scope can read. */
const READS = /** @type {const} */ ([
  ['pets:read', '/pets'],
  ['store:read', '/store/orders'],
  ['events:read', '/events'],
]);

/** Stands in place of the charts of an account that has sent nothing. @param {{ scopes: readonly string[] }} props those of the page's key */
export function FirstRequest({ scopes }) {
  const [, path = '/account'] = READS.find(([scope]) => scopes.includes(scope)) ?? [];
  const url = new URL(`v1${path}`, location.href).href;
  const lines = `export PETSTORE_API_KEY=…\ncurl -H "Authorization: Bearer $PETSTORE_API_KEY" '${url}'`;
  const shown = useRef(/** @type {HTMLElement | null} */ (null));
  const copy = async () => {
    const isCopied = shown.current && (await copyText(shown.current));
    say(
      isCopied
        ? 'Copied. Put your key in the place of the dots.'
        : 'The browser does not let the page copy. The lines are selected: copy them.',
    );
  };
  return html`<section class="card" aria-label="Send your first request">
    <div class="row">
      <h2>Send your first request</h2>
      <button type="button" onClick=${copy}>Copy<span class="hidden-text"> the lines</span></button>
    </div>
    <p>No program has used this account in the last 30 days. Put your key in the place of the dots, and send these lines from a terminal:</p>
    <pre class="secret"><code ref=${shown}>${lines}</code></pre>
    <p class="muted">A request is in the charts after a few seconds: press Refresh. More in the <a href="reference#quick-start">quick start</a>.</p>
  </section>`;
}
