import type { Scenario } from '../support/scenario.ts';
import { PETS } from './pets.ts';

/** Each is played on stores of its own. */
export const SCENARIOS: readonly Scenario[] = [PETS];
