/*
 * The parts of the store that are written once over an engine: one line for each, under its name in `Store`. A part exports
 * its `TABLES`, its `WRITES` of several statements, and `open`. A copy fills the tables in the order of these names.
 */
export * as audit from './audit.ts';
export * as categories from './categories.ts';
export * as counters from './counters.ts';
export * as notices from './notices.ts';
export * as operators from './operators.ts';
export * as orders from './orders.ts';
export * as petChanges from './pet-changes.ts';
export * as usageHistory from './usage-history.ts';
