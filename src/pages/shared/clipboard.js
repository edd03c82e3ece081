/**
 * Copies the text of an element. Without TLS a page has no clipboard, and a browser may refuse: then the text is selected, and
 * an old command copies what is selected.
 * @param {Element} element @returns {Promise<boolean>} false: the text is only selected
 */
export async function copyText(element) {
  try {
    await navigator.clipboard.writeText(element.textContent ?? '');
    return true;
  } catch {
    getSelection()?.selectAllChildren(element);
    return document.execCommand('copy');
  }
}
