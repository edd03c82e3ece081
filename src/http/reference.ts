export function referencePage(): string {
  return '';
}
