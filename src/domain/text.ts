// Contract: section 2.
import { ServiceError } from './errors.ts';

/**
 * Equal for names that differ in case only. Upper case joins ß with ss, and both small sigmas. Lower case comes before it,
 * because ẞ is its own upper case.
 */
export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}

/** The refusal of a name. `kind` says what has it already, and `name` is its name, perhaps in another case. */
export function nameTaken(kind: 'an account' | 'an operator' | 'a category', name: string): ServiceError {
  return new ServiceError('conflict', `There is ${kind} ${name} already; the case of a name does not count.`);
}
