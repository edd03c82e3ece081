/**
 * What the browser keeps under a name, and an empty text if it keeps nothing. A browser may refuse to keep anything, or be full:
 * then the page remembers until it ends.
 * @param {'localStorage' | 'sessionStorage'} kind @param {string} name
 */
export function stored(kind, name) {
  /** @type {string | undefined} */
  let written;
  return {
    /** @returns {string} */
    read() {
      if (written !== undefined) return written;
      try {
        return globalThis[kind].getItem(name) ?? '';
      } catch {
        return '';
      }
    },
    /** An empty text is forgotten. @param {string} text */
    write(text) {
      written = text;
      try {
        if (text === '') globalThis[kind].removeItem(name);
        else globalThis[kind].setItem(name, text);
      } catch {
        // `written` has it.
      }
    },
  };
}
