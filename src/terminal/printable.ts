/**
 * Escapes control characters and the characters that change the direction of text, each as `\u` and four hex digits.
 * Text from a file or a database could otherwise send commands to the terminal. JSON keeps its value.
 */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
