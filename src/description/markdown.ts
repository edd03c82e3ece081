/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export function code(text: string): string {
  return `\`${text}\``;
}

/** A block of code in a language. */
export function fence(language: string, source: string): string {
  return `\`\`\`${language}\n${source}\n\`\`\``;
}
