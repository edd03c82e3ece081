import type { ServingState } from '../http/steps.ts';

export interface ServiceState extends ServingState {
  /** False since the last attempt to write to the store failed. */
  isWritable: boolean;
}
