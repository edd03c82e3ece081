import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { serviceTime } from '../shared/fetch.js';
import { local, number, Time, utc } from '../shared/format.js';
import { QuotaWindow, timeLeft } from '../shared/meter.js';
import { Badge, Notice } from '../shared/notice.js';

/**
 * The account with its plan, what refuses its requests now, and both windows. All of it counts down together.
 * @param {{
 *   account: import('./api.js').Account, pageKey: import('./api.js').Key | undefined, nameOf: import('./api.js').NameOf,
 * }} props `pageKey` is the key of the page, if it may list keys
 */
export function Summary({ account, pageKey, nameOf }) {
  const { name, plan, limits, minute, day, bans } = account;
  const [time, setTime] = useState(serviceTime());
  useEffect(() => {
    const timer = setInterval(() => setTime(serviceTime()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const heading = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  // The form that opened the page is gone, and the focus with it.
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus();
  }, []);
  const inForce = bans.filter(({ until }) => Date.parse(until) > time.getTime());
  const ban = inForce.find(({ keyId }) => pageKey === undefined || keyId === pageKey.id);
  return html`<div class="row">
      <h1 ref=${heading} tabindex="-1">${name}</h1>
      <${Badge}>${plan}<//>
      <span class="muted">${number(limits.perMinute)} a minute, ${number(limits.perDay)} a day</span>
    </div>
    <${Bans} bans=${inForce} nameOf=${nameOf} />
    <${UsedUp} minute=${minute} day=${day} now=${time} banEnd=${Date.parse(ban?.until ?? '') || 0} />
    <div class="columns">
      <section class="card"><${QuotaWindow} name="This minute" ...${minute} now=${time} /></section>
      <section class="card"><${QuotaWindow} name="Today" ...${day} now=${time} /></section>
    </div>`;
}

/** @typedef {import('../../../client/src/index.ts').AccountWindow} Window */

/**
 * A notice for each window that is used up now, from the same numbers as its card. A window that ends before the ban of
 * the page's key has none: the service refuses more until the ban ends.
 * @param {{ minute: Window, day: Window, now: Date, banEnd: number }} props `banEnd` in Unix milliseconds, 0 without a ban
 */
function UsedUp({ minute, day, now, banEnd }) {
  return [
    { ...minute, unit: 'minute' },
    { ...day, unit: 'day' },
  ].map(({ limit, remaining, reset, unit }) => {
    const seconds = Number(reset) - now.getTime() / 1000;
    const end = new Date(Number(reset) * 1000);
    if (remaining > 0 || seconds <= 0 || end.getTime() < banEnd) return null;
    return html`<${Notice} key=${unit} kind="warn" title="The limit of this ${unit} is used up">
      <p title=${local(end)}>
        All ${number(limit)} requests are made. The service refuses more until <strong>${utc(end)}</strong>, in ${timeLeft(seconds)}.
        ${' '}<a href="reference#backing-off">How to wait</a>
      </p>
    <//>`;
  });
}

/**
 * A notice for each key that is banned now.
 * @param {{ bans: import('./api.js').Account['bans'], nameOf: import('./api.js').NameOf }} props
 */
function Bans({ bans, nameOf }) {
  return bans.map(
    ({ keyId, until, count }) =>
      html`<${Notice} key=${keyId} kind="warn" title="A key is banned: ${nameOf(keyId)}">
        <p>
          It kept sending requests after a 429. The ban ends at <strong><${Time} at=${until} /></strong>, <${Time} at=${until} isRelative />.
          ${count > 1 && ` It is ban number ${count} in a row. Each ban is longer than the one before.`}
          ${' '}<a href="reference#backing-off">How to avoid bans</a>
        </p>
      <//>`,
  );
}
