import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { serviceTime } from '../fetch.js';
import { number } from '../format.js';
import { QuotaWindow } from '../meter.js';
import { Badge } from '../notice.js';

/** The account with its plan and both windows, which count down. @param {{ account: import('./api.js').Account }} props */
export function Summary({ account }) {
  const { name, plan, limits, minute, day } = account;
  const [time, setTime] = useState(serviceTime());
  useEffect(() => {
    const timer = setInterval(() => setTime(serviceTime()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return html`<div class="row">
      <h1>${name}</h1>
      <${Badge}>${plan}<//>
      <span class="muted">${number(limits.perMinute)} a minute, ${number(limits.perDay)} a day</span>
    </div>
    <div class="columns">
      <section class="card"><${QuotaWindow} name="This minute" ...${minute} now=${time} /></section>
      <section class="card"><${QuotaWindow} name="This day (UTC)" ...${day} now=${time} /></section>
    </div>`;
}
