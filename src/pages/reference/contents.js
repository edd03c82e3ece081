/** Addresses of the page before it was ours: `#tag/errors`, `#description/errors` and `#tag/pets/GET/pets`. */
function translateOldAddress() {
  const [, operation, slug] =
    /^#(?:tag|description)\/(?:[^/]+\/([A-Z]+\/.*)|([^/]+))$/.exec(decodeURI(location.hash)) ?? [];
  if (operation !== undefined) {
    const [method, path] = [
      operation.slice(0, operation.indexOf('/')),
      operation.slice(operation.indexOf('/')),
    ];
    const form = document.querySelector(`form[data-method="${method}"][data-path="${CSS.escape(path)}"]`);
    const section = form?.closest('section');
    if (section) location.replace(`#${section.id}`);
  } else if (slug !== undefined) location.replace(`#${slug}`);
}

/** Marks the section that is read, and keeps its entry in sight. @param {HTMLDetailsElement} contents */
export function followContents(contents) {
  translateOldAddress();
  addEventListener('hashchange', translateOldAddress);
  const isNarrow = matchMedia('(width < 60rem)');
  const fold = () => {
    contents.open = !isNarrow.matches;
  };
  fold();
  isNarrow.addEventListener('change', fold);
  // On a phone the list covers the page.
  contents.addEventListener('click', ({ target }) => {
    if (isNarrow.matches && target instanceof Element && target.closest('a')) contents.open = false;
  });

  const links = new Map(Array.from(contents.querySelectorAll('a'), (link) => [link.hash.slice(1), link]));
  /** @type {HTMLAnchorElement | undefined} */
  let current;
  /** @param {string} id */
  const mark = (id) => {
    const link = links.get(id);
    if (link === undefined || link === current) return;
    current?.removeAttribute('aria-current');
    link.setAttribute('aria-current', 'true');
    current = link;
    if (isNarrow.matches) return;
    const [item, frame] = [link.getBoundingClientRect(), contents.getBoundingClientRect()];
    if (item.top < frame.top || item.bottom > frame.bottom)
      contents.scrollTop += item.top - frame.top - frame.height / 2;
  };
  const sections = [...document.querySelectorAll('section[id]')];
  const find = () => {
    // The last section that begins above the upper third of the window.
    const line = innerHeight / 3;
    const read = sections.findLast((section) => section.getBoundingClientRect().top <= line) ?? sections[0];
    if (read) mark(read.id);
  };
  let isWaiting = false;
  addEventListener(
    'scroll',
    () => {
      if (isWaiting) return;
      isWaiting = true;
      requestAnimationFrame(() => {
        isWaiting = false;
        find();
      });
    },
    { passive: true },
  );
  find();
}
