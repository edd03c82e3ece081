/** Colours of the style sheet. The last one there is for the sum of the rest. */
const COLOURS = Array.from({ length: 7 }, (_, at) => `series-${at + 1}`);

/**
 * Gives the largest series of a chart their colours. What had a colour in another chart has it again, unless two of one chart
 * had the same. What is new gets the colour of its number, or one that is free.
 * @param {string} [last] the colour that is taken only when no other is free, because a chart beside gives it a meaning
 */
export function createPalette(last) {
  const colours = COLOURS.filter((colour) => colour !== last);
  const all = last === undefined ? colours : [...colours, last];
  /** @type {Map<string, string>} */
  const colourById = new Map();
  /**
   * @template {{ id: string, number: number }} S
   * @param {readonly S[]} series the largest first
   * @returns {(S & { colour?: string | undefined })[]}
   */
  return (series) => {
    /** @type {Map<string, string>} */
    const chosen = new Map();
    const rank = (/** @type {S} */ { id, number }) => (colourById.has(id) ? -1 : number);
    const drawn = series.slice(0, all.length);
    for (const one of drawn.toSorted((a, b) => rank(a) - rank(b))) {
      const free = all.filter((colour) => ![...chosen.values()].includes(colour));
      const colour = colourById.get(one.id) ?? choose(colours[one.number % colours.length] ?? '', free);
      chosen.set(one.id, free.includes(colour) ? colour : (free[0] ?? ''));
      if (!colourById.has(one.id)) colourById.set(one.id, colour);
    }
    return series.map((one) => ({ ...one, ...(chosen.has(one.id) && { colour: chosen.get(one.id) }) }));
  };

  /** The colour that is wished for, or else one that nobody has. @param {string} wish @param {readonly string[]} free */
  function choose(wish, free) {
    const used = new Set(colourById.values());
    const unused = free.filter((colour) => !used.has(colour));
    return unused.includes(wish) ? wish : (unused[0] ?? free[0] ?? wish);
  }
}
