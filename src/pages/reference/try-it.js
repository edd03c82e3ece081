import { tabKey } from '../shared/key.js';

/** @typedef {{ url: string, name: string }} Server */

/** JSON in lines. Each number stays as it was written, because JavaScript would round an int64. @param {string} text */
function layOut(text) {
  try {
    const exact = JSON.parse(text, (_, value, { source = '' } = {}) =>
      typeof value === 'number' ? /** @type {any} */ (JSON).rawJSON(source) : value,
    );
    return JSON.stringify(exact, null, 2);
  } catch {
    return text;
  }
}

/** A word for a shell. @param {string} text */
const quote = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The request that a form describes. @param {HTMLFormElement} form @param {string} server */
function readRequest(form, server) {
  const { method = 'GET', path = '', type } = form.dataset;
  /** @type {Record<string, string>} */
  const headers = {};
  const query = new URLSearchParams();
  let filled = path;
  /** @type {string | undefined} */
  let body;
  for (const field of form.querySelectorAll('[data-in]')) {
    const { name, value, dataset } =
      /** @type {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} */ (field);
    if (dataset['in'] === 'key') headers['Authorization'] = `Bearer ${value.trim()}`;
    else if (dataset['in'] === 'body') body = value;
    else if (value !== '') {
      if (dataset['in'] === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value));
      else if (dataset['in'] === 'header') headers[name] = value;
      // Several values are sent as one parameter each.
      else for (const each of value.split(',')) query.append(name, each.trim());
    }
  }
  if (body !== undefined && type !== undefined) headers['Content-Type'] = type;
  const search = query.size === 0 ? '' : `?${query}`;
  return { method, url: server + filled + search, headers, body };
}

/** The line for a shell that sends the same request. @param {ReturnType<typeof readRequest>} request */
function curlLine({ method, url, headers, body }) {
  const lines = Object.entries(headers).map(([name, value]) =>
    name === 'Authorization'
      ? '-H "Authorization: Bearer $PETSTORE_API_KEY"'
      : `-H ${quote(`${name}: ${value}`)}`,
  );
  const isImplied = method === (body === undefined ? 'GET' : 'POST');
  return [
    `curl -i ${isImplied ? '' : `-X ${method} `}${quote(url)}`,
    ...lines,
    ...(body === undefined ? [] : [`-d ${quote(body)}`]),
  ].join(' \\\n  ');
}

/** A titled block of text. @param {string} title @param {string} text */
function block(title, text) {
  const [heading, pre] = [document.createElement('h4'), document.createElement('pre')];
  heading.textContent = title;
  pre.textContent = text;
  pre.tabIndex = 0;
  return [heading, pre];
}

/** Sends the request of a form and shows what came. @param {HTMLFormElement} form @param {string} server */
async function sendForm(form, server) {
  const [outcome, result] = [form.querySelector('.outcome'), form.querySelector('.result')];
  const request = readRequest(form, server);
  const { method, url, headers, body } = request;
  const sent = block('Sent', curlLine(request));
  const begin = performance.now();
  try {
    const response = await fetch(url, {
      method,
      headers,
      cache: 'no-store',
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const time = Math.round(performance.now() - begin);
    const status = document.createElement('strong');
    status.textContent = `${response.status} ${response.statusText}`;
    status.className = response.ok ? 'good' : 'bad';
    // Screen readers read this line alone.
    outcome?.replaceChildren(status, ` in ${time} ms`);
    const lines = Array.from(response.headers, ([name, value]) => `${name}: ${value}`).join('\n');
    result?.replaceChildren(
      ...(text === '' ? [] : block('Body', layOut(text))),
      ...block('Headers', lines),
      ...sent,
    );
  } catch (error) {
    const line = document.createElement('span');
    line.className = 'bad';
    line.textContent = `No answer came from ${url}: ${error instanceof Error ? error.message : String(error)}`;
    outcome?.replaceChildren(line);
    result?.replaceChildren(...sent);
  }
}

const LOOPBACK = /^https?:\/\/(?:127\.|0\.0\.0\.0|localhost|\[::1?\])/;

/** Lets each operation be tried. @param {HTMLElement} content */
export function startTrying(content) {
  /** @type {Server[]} */
  const servers = JSON.parse(content.dataset['servers'] ?? '[]');
  const running = content.dataset['server'] ?? '';
  // An address of the service's own machine is not one of the reader's: under that name, this page has the service.
  const here = LOOPBACK.test(running) ? new URL('v1', location.href).href : running;
  for (const details of content.querySelectorAll('details.try')) {
    const [form, button] = [details.querySelector('form'), details.querySelector('button.main')];
    if (!(details instanceof HTMLDetailsElement) || form === null || button === null) continue;
    details.hidden = false;
    const choice = document.createElement('select');
    for (const { url, name } of servers) {
      const address = url === running ? here : url;
      choice.add(new Option(`${name}: ${address}`, address, false, url === running));
    }
    const nameButton = () => {
      const { name = '' } = servers[choice.selectedIndex] ?? {};
      button.textContent = `Send to ${name.toLowerCase()}`;
    };
    choice.addEventListener('change', nameButton);
    nameButton();
    if (servers.length > 1) {
      const label = document.createElement('label');
      label.append('Server', choice);
      const field = document.createElement('div');
      field.className = 'field';
      field.append(label);
      form.prepend(field);
    }
    const key = /** @type {HTMLInputElement} */ (form.elements.namedItem('key'));
    details.addEventListener('toggle', () => {
      if (details.open && key.value === '') key.value = tabKey.read();
    });
    key.addEventListener('change', () => tabKey.write(key.value.trim()));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void sendForm(form, choice.value);
    });
  }
}
