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
  /** Where a jump ended: near the end of the page its target is not at the top. @type {{ section: Element, at: number } | undefined} */
  let jump;
  const find = () => {
    const line = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) + 1;
    const isAtEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 1;
    const read =
      jump !== undefined && Math.abs(scrollY - jump.at) <= 1
        ? jump.section
        : isAtEnd
          ? sections.at(-1)
          : sections.findLast((section) => section.getBoundingClientRect().top <= line);
    mark((read ?? sections[0])?.id ?? '');
  };
  /** Samples are laid out when they come near, which moves the target: brings it into view until it stays. */
  const settle = (frames = 10) => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target === null) return;
    target.scrollIntoView({ behavior: 'instant' });
    const section = target.closest('section[id]');
    jump = section === null ? undefined : { section, at: scrollY };
    find();
    if (frames > 0) requestAnimationFrame(() => settle(frames - 1));
  };
  // Not after a reload or Back, which lead to where the reader was.
  addEventListener('click', ({ target }) => {
    const link = target instanceof Element ? target.closest('a') : null;
    if (link?.hash)
      requestAnimationFrame(() => {
        if (link.href === location.href) settle();
      });
  });
  addEventListener('load', () => {
    const [visit] = performance.getEntriesByType('navigation');
    if (visit instanceof PerformanceNavigationTiming && visit.type === 'navigate') settle();
  });
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
