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
  /** Pictures that came later have moved the target of a first visit. */
  const settle = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target === null) return;
    target.scrollIntoView({ behavior: 'instant' });
    const section = target.closest('section[id]');
    jump = section === null ? undefined : { section, at: scrollY };
    find();
  };
  // Not after a reload or Back, which lead to where the reader was: their entries of the history are marked.
  const arrive = () => {
    if (history.state !== null) return;
    history.replaceState('visited', '');
    settle();
  };
  addEventListener('load', arrive);
  addEventListener('hashchange', arrive);
  addEventListener('click', ({ target }) => {
    const link = target instanceof Element ? target.closest('a') : null;
    // The same address again changes nothing else.
    if (link?.hash && link.href === location.href) requestAnimationFrame(settle);
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
