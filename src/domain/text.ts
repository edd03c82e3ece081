// Contract: section 2.

/**
 * Equal for names that differ in case only. Upper case joins ß with ss, and both small sigmas. Lower case comes before it,
 * because ẞ is its own upper case.
 */
export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}
