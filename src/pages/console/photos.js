import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Card } from './page.js';
import { findPhotoHost } from './photo-host.js';

/** `a, b and c` @param {readonly string[]} items */
const listed = (items) => new Intl.ListFormat('en-GB').format(items);

/**
 * The photos of an animal. Nothing is loaded from their hosts until somebody allows these hosts with one click.
 * @param {{ name: string, addresses: readonly string[] }} props
 */
export function Photos({ name, addresses }) {
  // Hosts, not a yes: a poll can bring a photo of another one.
  const [allowed, setAllowed] = useState(/** @type {readonly string[]} */ ([]));
  const hosts = [...new Set(addresses.map(findPhotoHost))].filter((host) => host !== undefined);
  const waiting = hosts.filter((host) => !allowed.includes(host));
  const count = addresses.filter((address) => waiting.includes(findPhotoHost(address) ?? '')).length;
  const show = html`<button type="button" class="long" onClick=${() => setAllowed(hosts)}>
    Show ${count === 1 ? 'the photo' : `${count} photos`} from ${listed(waiting)}
  </button>`;
  return html`<${Card} title="Photos">
    ${
      waiting.length > 0 &&
      html`<div class="stack">
        <div class="row">${show}</div>
        <p class="muted">Nothing is loaded before that. The server then sees your address, but not which page you look at.</p>
      </div>`
    }
    <ul class="photos">${addresses.map((address, place) => {
      const title = `Photo ${place + 1} of ${name}`;
      return html`<li key=${address}>
        ${
          allowed.includes(findPhotoHost(address) ?? '') &&
          html`<iframe title=${title} src="/photo?${new URLSearchParams({ address })}"></iframe>`
        }
        <a href=${address} target="_blank" rel="noreferrer">${address}</a>
      </li>`;
    })}</ul>
  <//>`;
}
