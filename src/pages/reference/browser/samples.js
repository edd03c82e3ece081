/** @type {Readonly<Record<string, string>>} */
const LABELS = { sh: 'curl', typescript: 'TypeScript', python: 'Python' };

/** The language that the reader chose last, for all samples of the page. */
let chosen = 'sh';

/**
 * Puts code blocks that follow one another, one for each language, into one box that shows the chosen language.
 * @param {Element} first
 */
export function groupSamples(first) {
  if (first.closest('.samples') !== null) return;
  const box = document.createElement('div');
  box.className = 'samples';
  first.before(box);
  const select = document.createElement('select');
  select.setAttribute('aria-label', 'Language of the code samples');
  box.append(select);
  for (let block = box.nextElementSibling; block?.tagName === 'PRE'; block = box.nextElementSibling) {
    const [, language = ''] = /language-(\w+)/.exec(block.firstElementChild?.className ?? '') ?? [];
    block.setAttribute('data-language', language);
    select.append(new Option(LABELS[language] ?? language, language));
    box.append(block);
  }
  select.addEventListener('change', () => choose(select.value));
  choose(chosen);
}

/** @param {string} language */
function choose(language) {
  chosen = language;
  for (const box of document.querySelectorAll('.samples')) {
    for (const block of box.querySelectorAll('pre')) block.hidden = block.dataset['language'] !== chosen;
    for (const select of box.querySelectorAll('select')) select.value = chosen;
  }
}
