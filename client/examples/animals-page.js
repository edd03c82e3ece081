// A page of the animals that can be adopted. The server has the key and a copy of the animals, which follows the feed of events.
// Browsers ask this server alone, however many there are. The key has pets:read and events:read.
// PETSTORE_API_KEY=petstore_live_… PORT=3000 node animals-page.js
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionError, CursorExpiredError, PetStore, RateLimitError, ServerError } from 'petstore-client';

const store = new PetStore();
/** Browsers that have the page open. */
const viewers = new Set();
let copy = new Map();

async function keepCopy() {
  // The feed begins before the list, so no change is missed.
  let { next } = await store.events.list({ after: 'now' });
  for (let isListed = false; ; ) {
    try {
      if (!isListed) {
        const listed = new Map();
        for await (const pet of store.pets.list({ limit: 100 })) listed.set(pet.id, pet);
        copy = listed;
        isListed = true;
        show();
      }
      for await (const page of store.events.follow({ after: next, types: ['pet.*'] })) {
        for (const { type, data } of page.events) {
          if (type === 'pet.deleted') copy.delete(data.id);
          if (type === 'pet.created' || type === 'pet.updated') copy.set(data.id, data);
        }
        if (page.events.length > 0) show();
        ({ next } = page);
      }
    } catch (error) {
      if (error instanceof CursorExpiredError) {
        ({ next } = error);
        isListed = false;
      } else if ([ConnectionError, RateLimitError, ServerError].some((passing) => error instanceof passing)) {
        console.error(error.message); // The page stays as it is meanwhile.
        await sleep(60_000);
      } else throw error;
    }
  }
}

/** Names and texts come from others, so all of them are escaped. */
const escape = (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

function describeAge(birthDate) {
  const [year, month, day] = birthDate.split('-').map(Number);
  const now = new Date();
  const months = (now.getUTCFullYear() - year) * 12 + now.getUTCMonth() + 1 - month;
  const age = Math.max(0, now.getUTCDate() < day ? months - 1 : months);
  const [count, unit] = age < 12 ? [age, 'month'] : [Math.floor(age / 12), 'year'];
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}

function renderItem({ name, breed, birthDate, photoUrls }) {
  const photo = photoUrls?.[0];
  const about = [breed, birthDate && describeAge(birthDate)].filter(Boolean).join(', ');
  const attributes = 'width="160" loading="lazy" referrerpolicy="no-referrer"';
  const image = photo === undefined ? '' : `<img src="${escape(photo)}" alt="" ${attributes}>`;
  return `<li>${image}<h2>${escape(name)}</h2><p>${escape(about)}</p></li>`;
}

/** The newest animals. A shop with many has pages or a search here. */
function renderList() {
  const animals = [...copy.values()].filter(({ status }) => status === 'available');
  animals.sort((one, other) => (one.id < other.id ? 1 : -1));
  return animals.slice(0, 60).map(renderItem).join('');
}

const message = () => `data: ${JSON.stringify(renderList())}\n\n`;
function show() {
  for (const viewer of viewers) viewer.write(message());
}

const page = () => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Our animals</title>
<link rel="icon" href="data:,"><h1>Our animals</h1><ul id="animals">${renderList()}</ul><script src="/page.js"></script></html>`;
const SCRIPT = `new EventSource('/changes').onmessage = ({ data }) => {
  document.querySelector('#animals').innerHTML = JSON.parse(data);
};`;
const POLICY =
  "default-src 'none'; connect-src 'self'; img-src https: data:; script-src 'self'; base-uri 'none'";

const server = createServer((request, response) => {
  const [path] = request.url.split('?');
  const send = (type, text) =>
    response.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': POLICY }).end(text);
  if (path === '/') return send('text/html', page());
  if (path === '/page.js') return send('text/javascript', SCRIPT);
  if (path !== '/changes') return response.writeHead(404).end();
  response
    .writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
    .write(message());
  viewers.add(response);
  response.on('close', () => viewers.delete(response));
});
server.listen(process.env.PORT ?? 3000, () => console.log(`http://localhost:${server.address().port}/`));
await keepCopy();
