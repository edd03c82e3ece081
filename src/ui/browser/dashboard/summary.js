import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { serviceTime } from '../fetch.js';
import { number } from '../format.js';
import { QuotaWindow } from '../meter.js';
import { Badge } from '../notice.js';
import { Bans } from './bans.js';
import { UsedUp } from './used-up.js';

/**
 * The account with its plan, what refuses its requests now, and both windows. All of it counts down together.
 * @param {{ account: import('./api.js').Account, nameOf: (keyId: number) => string }} props
 */
export function Summary({ account, nameOf }) {
  const { name, plan, limits, minute, day, bans } = account;
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
    <${UsedUp} minute=${minute} day=${day} now=${time} />
    <${Bans} bans=${bans} nameOf=${nameOf} now=${time} />
    <div class="columns">
      <section class="card"><${QuotaWindow} name="This minute" ...${minute} now=${time} /></section>
      <section class="card"><${QuotaWindow} name="This day (UTC)" ...${day} now=${time} /></section>
    </div>`;
}
